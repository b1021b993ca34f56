import type { Clock } from '../../core';
import { pause } from '../../core/clock';
import { sqlite } from '../sql/dialects/sqlite';
import {
  runDecide,
  SqlExecutionError,
  type SqlConnection,
  type SqlDecide,
  type SqlResult,
  type SqlStatement,
} from '../sql/connections/sql-executor';
import { driverErrorOf } from '../sql/connections/sql-failure';
import type { OpenedFile } from './opened-file';

interface SqliteStatement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  safeIntegers(isBigint: boolean): unknown;
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): unknown;
}

/** The methods of a better-sqlite3 database that cronlatch calls. */
export interface SqliteDatabase {
  readonly inTransaction: boolean;
  prepare(text: string): SqliteStatement;
  exec(text: string): unknown;
  pragma(text: string, options?: { simple: true }): unknown;
}

/** Between two attempts on a busy file or connection. */
export const RETRY_DELAY_MS = 10;

/**
 * better-sqlite3 is synchronous. Waiting inside it for another writer would block the event loop, and with it the renewal
 * of every lease. So no call waits. If the file is busy, or the connection is in a transaction, the call is retried.
 */
export class SqliteConnection implements SqlConnection {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly clock: Clock,
    /** The application uses it too, with its own timeout for a busy file. */
    private readonly isShared = false,
    private readonly file?: OpenedFile,
  ) {}

  execute(statement: SqlStatement, endsAtMs: number): Promise<SqlResult> {
    return this.#whenFree(() => runStatement(this.database, statement), endsAtMs);
  }

  transaction<T>(first: SqlStatement, decide: SqlDecide<T>, endsAtMs: number): Promise<T> {
    return this.#whenFree(() => this.#transact(first, decide), endsAtMs);
  }

  /** No transaction outlives its call. */
  rollBack(): Promise<boolean> {
    return Promise.resolve(true);
  }

  release(): void {}

  /** Does nothing, because there is only one connection, and no statement outlives its call. */
  destroy(): void {}

  /** Synchronous, so that no other code can use the connection inside the transaction. */
  #transact<T>(first: SqlStatement, decide: SqlDecide<T>): T {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const { value, statements } = runDecide(decide, runStatement(this.database, first));
      for (const statement of statements) runStatement(this.database, statement);
      this.database.exec('COMMIT');
      return value;
    } finally {
      if (this.database.inTransaction) this.database.exec('ROLLBACK');
    }
  }

  async #whenFree<T>(action: () => T, endsAtMs: number): Promise<T> {
    let busy: unknown = new SqlExecutionError(
      'the application kept the connection that it shares with cronlatch inside a transaction',
      'not-sent',
    );
    for (;;) {
      try {
        const loss = this.file?.findLoss();
        if (loss !== undefined) throw loss;
        if (!this.database.inTransaction)
          return this.isShared ? withoutWaiting(this.database, action) : action();
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

export function runStatement(database: SqliteDatabase, { text, values }: SqlStatement): SqlResult {
  const statement = preparedIn(database, text);
  statement.safeIntegers(false); // The application can have made bigint the default.
  const rows = statement.reader ? statement.all(...values) : [];
  if (!statement.reader) statement.run(...values);
  return { rows: rows as SqlResult['rows'], affectedRows: undefined, insertId: undefined };
}

/** By connection and text. There are few different texts. */
const PREPARED = new WeakMap<SqliteDatabase, Map<string, SqliteStatement>>();

/** Preparing takes several times as long as running. SQLite prepares a statement again if its table has changed. */
function preparedIn(database: SqliteDatabase, text: string): SqliteStatement {
  const prepared = PREPARED.get(database) ?? new Map<string, SqliteStatement>();
  PREPARED.set(database, prepared);
  const statement = prepared.get(text) ?? database.prepare(text);
  prepared.set(text, statement);
  return statement;
}

/** better-sqlite3 would block the event loop, and with it the renewal of every lease, for the timeout of the connection. */
export function withoutWaiting<T>(database: SqliteDatabase, action: () => T): T {
  const timeoutMs = Number(database.pragma('busy_timeout', { simple: true }));
  database.pragma('busy_timeout = 0');
  try {
    return action();
  } finally {
    database.pragma(`busy_timeout = ${timeoutMs}`);
  }
}
