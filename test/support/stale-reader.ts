import type { DataSource, QueryRunner } from 'typeorm';
import type { SendInTurn, SqlExecutor, SqlResult } from '#cronlatch/storage/sql/connections/sql-executor';

/** A statement that a proxy may send to a replica. */
const PLAIN_READ = /^\s*SELECT\b(?![\s\S]*\bFOR\s+(UPDATE|SHARE)\b)/i;

/**
 * Does what a proxy does that sends plain reads to a replica: as soon as it lags, they are answered from before the last write.
 * Reads that lock rows, and transactions, go to the primary.
 */
export class StaleReader {
  #snapshot: QueryRunner | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** @param operator has the tables, and connects to a server whose transactions have snapshots */
  constructor(private readonly operator: DataSource) {}

  /** From now on, plain reads of all wrapped executors are stale. */
  async lag(): Promise<void> {
    this.#snapshot = this.operator.createQueryRunner();
    await this.#inTurn(() => this.#renew());
  }

  async dispose(): Promise<void> {
    const snapshot = this.#snapshot;
    this.#snapshot = undefined;
    await this.#last;
    if (snapshot?.isTransactionActive) await snapshot.rollbackTransaction();
    await snapshot?.release();
  }

  wrap(executor: SqlExecutor): SqlExecutor {
    const stale =
      (send: SendInTurn): SendInTurn =>
      async (statement) => {
        if (this.#snapshot === undefined) return await send(statement);
        if (PLAIN_READ.test(statement.text))
          return await this.#inTurn(() => this.#read(statement.text, statement.values));
        await this.#inTurn(() => this.#renew());
        return await send(statement);
      };
    return {
      isFree: (request) => executor.isFree(request),
      execute: (statement, options) => executor.inTurn((send) => stale(send)(statement), options),
      inTurn: (use, options) => executor.inTurn((send) => use(stale(send)), options),
      transaction: async (...transaction) => {
        await this.#inTurn(() => this.#renew());
        return await executor.transaction(...transaction);
      },
    };
  }

  /** A write follows, which the next plain reads do not see. */
  async #renew(): Promise<void> {
    const snapshot = this.#snapshot;
    if (snapshot === undefined) return;
    if (snapshot.isTransactionActive) await snapshot.rollbackTransaction();
    await snapshot.startTransaction('REPEATABLE READ');
    await snapshot.query('SELECT COUNT(*) FROM shedlock');
  }

  async #read(text: string, values: readonly unknown[]): Promise<SqlResult> {
    const rows: unknown = await this.#snapshot?.query(text, [...values]);
    return { rows: rows as SqlResult['rows'], affectedRows: 0, insertId: 0 };
  }

  /** The snapshot has one connection. */
  #inTurn<T>(use: () => Promise<T>): Promise<T> {
    const result = this.#last.then(use);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
