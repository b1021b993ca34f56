import type { Clock } from '../../core';
import { withinLimit } from '../../core/clock';
import { ConnectionGate } from './connection-gate';
import type { SqlDialect } from './sql-dialect';
import {
  SqlExecutionError,
  type ExecuteOptions,
  type SqlExecutor,
  type SqlResult,
  type SqlStatement,
} from './sql-executor';
import { driverErrorOf, leavesConnectionUsable } from './sql-failure';

/** One connection, for one statement at a time. */
export interface SqlConnection {
  /** @param endsAtMs monotonic: it settles by then, and sends nothing afterwards */
  execute(statement: SqlStatement, endsAtMs: number): Promise<SqlResult>;
  /** Back to where it came from. */
  release(): void;
  /** Closed at once, whatever it is doing. */
  destroy(): void;
}

export interface ConnectionSource {
  /** How many connections it has at the most. */
  readonly size: number;
  /** A connection that is set up and in no transaction. */
  open(): Promise<SqlConnection>;
  close(): Promise<void>;
}

/** Gives every statement a connection in the order of service, and a time limit that covers all of it. */
export class PooledSqlExecutor implements SqlExecutor {
  readonly #gate: ConnectionGate;
  #closed = false;

  constructor(
    private readonly source: ConnectionSource,
    private readonly dialect: SqlDialect,
    private readonly clock: Clock,
  ) {
    this.#gate = new ConnectionGate(source.size, clock);
  }

  async execute(statement: SqlStatement, { timeoutMs, urgent }: ExecuteOptions): Promise<SqlResult> {
    if (this.#closed) throw new SqlExecutionError('the lock provider is closed', 'not-sent');
    const endsAtMs = this.clock.monotonicMs() + timeoutMs;
    const leave = await this.#gate.enter({ urgent, timeoutMs });
    if (this.#closed) {
      leave();
      throw new SqlExecutionError('the lock provider was closed meanwhile', 'not-sent');
    }
    const connection = await this.#open(endsAtMs, leave);
    try {
      const answer = await connection.execute(statement, endsAtMs);
      connection.release();
      return answer;
    } catch (error) {
      this.#giveUp(connection, error);
      throw error instanceof SqlExecutionError
        ? error
        : new SqlExecutionError(driverErrorOf(error).message, 'sent', { cause: error });
    } finally {
      leave();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.source.close();
  }

  async #open(endsAtMs: number, leave: () => void): Promise<SqlConnection> {
    const opening = this.source.open();
    let late = false;
    try {
      const connection = await withinLimit(this.clock, opening, endsAtMs - this.clock.monotonicMs());
      if (connection !== 'time-out') return connection;
      late = true;
      throw new SqlExecutionError('no connection could be opened in time', 'not-sent');
    } catch (error) {
      // A connection that arrives late goes back to its pool; until then its place stays taken.
      if (late)
        void opening
          .then(
            (connection) => connection.release(),
            () => undefined,
          )
          .finally(leave);
      else leave();
      throw error instanceof SqlExecutionError
        ? error
        : new SqlExecutionError(driverErrorOf(error).message, 'not-sent', { cause: error });
    }
  }

  #giveUp(connection: SqlConnection, error: unknown): void {
    const fromDriver = !(error instanceof SqlExecutionError);
    if (fromDriver && leavesConnectionUsable(this.dialect.failureOf(driverErrorOf(error))))
      connection.release();
    else connection.destroy();
  }
}
