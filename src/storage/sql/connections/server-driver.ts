import type { SqlDialect } from '../dialects/sql-dialect';
import type { NodeWait, SqlResult, SqlRow, SqlStatement } from '../statements/statement';

/** Everything that differs between the drivers of database servers. */
export interface ServerDriver {
  readonly dialect: SqlDialect;
  /** An expression: whether the server accepts no writes. */
  readonly readOnly: string;
  /** A plain SELECT, the first statement of a session. Its rows have `session_id`, `is_read_only`, `name` and `value`. */
  readonly variables: string;
  /**
   * The next statements of a session of our own. The server's timeout must be shorter than the client's. Otherwise it
   * could later grant a lock to a client that has stopped waiting.
   *
   * @param variables by name, in lower case
   */
  readonly sessionSettings: (statementTimeoutMs: number, variables: SqlRow) => readonly string[];
  /** Whether it sets them behind a pooler, too, which can give the session to other clients. */
  readonly setsPooledSessions: boolean;
  /** `undefined` if the server is not in a cluster whose nodes all accept writes. */
  readonly nodeWait?: (variables: SqlRow) => NodeWait | undefined;
  /** Begins a transaction, at READ COMMITTED if one statement can do that. */
  readonly begin: string;
  /** The statements that begin a transaction of the application. `undefined`: at the default level of the session. */
  readonly beginAt: (isolationLevel: IsolationLevel | undefined) => readonly string[];
  /** This and `rollBack` only end the transaction, regardless of the session's settings. */
  readonly commit: string;
  readonly rollBack: string;
  /** Does nothing. Its answer shows whether the session is in a transaction. */
  readonly probe: string;
  /**
   * `begin` makes the server end an idle transaction, because a stopped process would keep its rows locked, and keeps
   * COMMIT from beginning another one. `end` undoes both, or is `undefined` if the end of the transaction does so.
   */
  readonly idleLimit: { readonly begin: (milliseconds: number) => string; readonly end: string | undefined };
  /** The settings of a transaction that holds a row lock while a job runs. */
  readonly rowLock: {
    /** The first statements of a session. */
    readonly session: (limits: RowLockLimits) => readonly string[];
    /** Begins a transaction that may last as long as it is not idle for longer than `idleMs`. */
    readonly begin: (limits: RowLockLimits) => string;
  };
}

interface RowLockLimits {
  readonly statementTimeoutMs: number;
  /** After this time without a statement, the server ends the session. */
  readonly idleMs: number;
  /** How long a statement waits for the row. 0: it does not wait. */
  readonly waitMs: number;
}

export type IsolationLevel = 'READ COMMITTED' | 'REPEATABLE READ' | 'SERIALIZABLE';

export interface DriverSession {
  /** What the server called the session when it was opened. Some clients do not keep it. */
  readonly id?: number | null | undefined;
  /** @param options.prepared whether the server keeps the statement, so that its text is sent and parsed only once */
  send(statement: SqlStatement, options: { prepared: boolean }): Promise<SqlResult>;
  /** Watches the open transaction. `undefined` if the answer to COMMIT does not show a rollback. */
  watchEnd?(): TransactionWatch;
  /**
   * Ends this session through another one, because the server continues a statement after its client is gone.
   * `undefined` if the server itself limits the time of statements.
   */
  endFrom?(other: DriverSession): Promise<void>;
  onEnd(listener: () => void): void;
  /** Ends an idle connection. `onEnd` reports when it has ended. */
  end(): void;
  /** Ends the connection at once, even while a statement runs. */
  destroy(): void;
}

/** A connection that is being opened. It can be destroyed before it is open. */
export interface OpeningSession {
  readonly session: DriverSession;
  readonly opened: Promise<unknown>;
}

export interface TransactionWatch {
  /** `undefined` as long as no end of the transaction was seen. */
  isCommitted(): boolean | undefined;
  stop(): void;
}
