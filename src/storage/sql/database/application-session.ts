import type { Clock } from '../../../core';
import { withinLimitOr } from '../../../core/clock';
import type {
  DriverAnswer,
  DriverSession,
  ServerDriver,
  TransactionWatch,
} from '../connections/server-driver';
import type { NodeWait, SqlResult, SqlStatement } from '../connections/sql-executor';

/** A connection of the application, as the ledger uses it to take part in a transaction. */
export interface ApplicationSession {
  /** Checks it in the database, because statements can end a transaction without the client noticing. */
  isInTransaction(): Promise<boolean>;
  /** Sends a statement inside the transaction. Rejects with the driver's error. */
  send(statement: SqlStatement): Promise<SqlResult>;
  /** Watches the open transaction. `undefined` on MySQL, where the answer to COMMIT is the same after a rollback. */
  watchEnd(): TransactionWatch | undefined;
  /** Call it before the transaction. Its statements then wait for their node of a cluster. */
  change(wait: NodeWait): Promise<void>;
  /** Call it inside the transaction. The server then ends it when it is idle for longer. No effect on SQLite. */
  limitIdle(milliseconds: number): Promise<void>;
  /** Call it after the transaction. It restores the settings of the session. */
  restore(): Promise<void>;
  /** Ends the connection at once, so the server rolls back its open transaction. */
  destroy(): void;
}

export interface SessionLimits {
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
}

/** The session of a connection to a server. */
export class ServerApplicationSession implements ApplicationSession {
  readonly #restoring: string[] = [];

  constructor(
    private readonly session: DriverSession,
    private readonly driver: ServerDriver,
    private readonly limits: SessionLimits,
  ) {}

  send(statement: SqlStatement): Promise<DriverAnswer> {
    const { clock, statementTimeoutMs } = this.limits;
    const timeoutError = (): Error =>
      new Error(`The database did not answer within ${statementTimeoutMs} ms.`);
    const sending = this.session.send(statement, { prepared: false });
    return withinLimitOr(clock, sending, statementTimeoutMs, timeoutError);
  }

  run(text: string): Promise<DriverAnswer> {
    return this.send({ id: '', text, values: [] });
  }

  async isInTransaction(): Promise<boolean> {
    return (await this.run(this.driver.probe)).inTransaction !== false;
  }

  watchEnd(): TransactionWatch | undefined {
    return this.session.watchEnd?.();
  }

  async change({ begin, end }: { readonly begin: string; readonly end: string | undefined }): Promise<void> {
    if (end !== undefined) this.#restoring.push(end); // Even if the answer is lost.
    await this.run(begin);
  }

  limitIdle(milliseconds: number): Promise<void> {
    const { begin, end } = this.driver.idleLimit;
    return this.change({ begin: begin(milliseconds), end });
  }

  async restore(): Promise<void> {
    for (const text of this.#restoring) await this.run(text);
  }

  destroy(): void {
    this.session.destroy();
  }
}
