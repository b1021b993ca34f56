import type { Clock } from '../../core';
import { pause } from '../../core/clock';
import { sqlite } from '../sql/dialects/sqlite';
import type { SqlConnection } from '../sql/pooled-sql-executor';
import { SqlExecutionError, type SqlResult, type SqlStatement } from '../sql/sql-executor';
import { driverErrorOf } from '../sql/sql-failure';

/** What is called of a better-sqlite3 database. */
export interface SqliteDatabase {
  readonly inTransaction: boolean;
  prepare(text: string): { all(...values: unknown[]): unknown[] };
  pragma(text: string, options?: { simple: true }): unknown;
}

const RETRY_DELAY_MS = 10;

/**
 * better-sqlite3 is synchronous: waiting for another writer inside it would stop the event loop, and with it every
 * timer of every lease. So nothing waits inside; a busy file, or a handle in a transaction, is asked again.
 */
export class SqliteConnection implements SqlConnection {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly clock: Clock,
  ) {}

  async execute({ text, values }: SqlStatement, endsAtMs: number): Promise<SqlResult> {
    const rows = await this.#whenFree(() => this.database.prepare(text).all(...values), endsAtMs);
    return { rows: rows as SqlResult['rows'], affectedRows: undefined, insertId: undefined };
  }

  release(): void {}

  /** There is one handle, and no statement outlives its call. */
  destroy(): void {}

  async #whenFree<T>(action: () => T, endsAtMs: number): Promise<T> {
    let busy: unknown = new SqlExecutionError(
      'the handle that is shared with the application stayed inside a transaction',
      'not-sent',
    );
    for (;;) {
      try {
        if (!this.database.inTransaction) return action();
      } catch (error) {
        if (sqlite.failureOf(driverErrorOf(error)) !== 'contention') throw error;
        busy = error;
      }
      const delayMs = RETRY_DELAY_MS * (0.5 + Math.random());
      if (this.clock.monotonicMs() + delayMs >= endsAtMs) throw busy;
      await pause(this.clock, delayMs);
    }
  }
}
