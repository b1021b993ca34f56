import type { DataSource, DataSourceOptions } from 'typeorm';
import type { SqlResult, SqlStatement } from '../sql/connections/sql-executor';
import type { Sockets } from './own-data-source';

/** All that is special about the driver of a database server. */
export interface ServerDriver {
  /** What leads to the application's database, and nothing else of its options. */
  readonly ownOptions: (
    application: DataSource,
    connectTimeoutMs: number,
    sockets: Sockets,
  ) => DataSourceOptions;
  /** What a session of our own is told first. The server must give up a waiting statement before the client does, else it grants a lease to nobody later on. */
  readonly sessionSettings: (statementTimeoutMs: number) => readonly string[];
  /** @throws InvalidLockConfigurationError where the application's own connections would confuse locks */
  readonly checkShared: (application: DataSource) => void;
  /** What `extra` of the application calls the size of its pool. */
  readonly poolSizeKey: string;
  /** Begins a transaction at READ COMMITTED, as far as one statement can say so. */
  readonly begin: string;
  /** End it, whatever the session is set to do next. */
  readonly commit: string;
  readonly rollBack: string;
  /** Does nothing, and its answer says whether the session is in a transaction. */
  readonly probe: string;
  /**
   * Has the server end a transaction of the application that its client has left alone for so long: a process that was
   * stopped inside it would keep its rows locked. COMMIT then also begins no other transaction. `end` undoes both, where
   * the end of the transaction does not.
   */
  readonly idleLimit: { readonly begin: (milliseconds: number) => string; readonly end: string | undefined };
  /** @param connection what TypeORM's query runner hands out */
  readonly session: (connection: unknown) => DriverSession;
}

/** One connection of a driver. */
export interface DriverSession {
  /** @param options.prepared the server keeps the statement, so that the next time its text is not sent and not parsed */
  send(statement: SqlStatement, options: { prepared: boolean }): Promise<DriverAnswer>;
  /** Watches the transaction that is open now, where the answer to COMMIT shows what happened to it. */
  watchEnd?(): TransactionWatch;
  /**
   * Has another session end this one in the server, which otherwise goes on with a statement after its client has gone.
   * Where the server limits statements by itself, there is nothing to end.
   */
  endFrom?(other: DriverSession): Promise<void>;
  /** Called when the connection is known to have ended. */
  onEnd(listener: () => void): void;
  /** Ends the connection at once, whatever it is doing. */
  destroy(): void;
}

export interface TransactionWatch {
  /** `undefined` while the transaction is not seen to have ended. */
  isCommitted(): boolean | undefined;
  stop(): void;
}

export interface DriverAnswer extends SqlResult {
  /** The statement stands inside a transaction, so nothing is committed. `undefined`: this answer does not say. */
  readonly inTransaction: boolean | undefined;
}
