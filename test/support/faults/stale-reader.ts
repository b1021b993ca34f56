import type { DataSource, QueryRunner } from 'typeorm';
import type { SqlResult, SqlSession } from '#cronlatch/storage/sql/statements/statement';
import type { SqlTablesOptions } from '#cronlatch/storage/sql/tables/verified-tables';

type Connections = SqlTablesOptions['connections'];

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

  /** From now on, plain reads of all wrapped connections are stale. */
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

  wrap(connections: Connections): Connections {
    return {
      nodeWait: undefined,
      isFree: (priority) => connections.isFree(priority),
      run: (use, limit) => connections.run((session, endsAtMs) => use(this.#stale(session), endsAtMs), limit),
    };
  }

  #stale(session: SqlSession): SqlSession {
    return {
      execute: async (statement, endsAtMs) => {
        if (this.#snapshot === undefined) return await session.execute(statement, endsAtMs);
        if (PLAIN_READ.test(statement.text))
          return await this.#inTurn(() => this.#read(statement.text, statement.values));
        await this.#inTurn(() => this.#renew());
        return await session.execute(statement, endsAtMs);
      },
      transaction: async (...transaction) => {
        await this.#inTurn(() => this.#renew());
        return await session.transaction(...transaction);
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
