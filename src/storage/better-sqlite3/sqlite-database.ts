import { statSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import type { Clock } from '../../core';
import { pause } from '../../core/clock';
import {
  runDecide,
  SqlExecutionError,
  type ConnectionSource,
  type SqlConnection,
  type SqlDecide,
  type SqlResult,
  type SqlRow,
  type SqlStatement,
} from '../sql/statements/statement';
import { driverErrorOf } from '../sql/statements/sql-failure';
import type { SqlDatabase } from '../sql/connections/sql-database';
import { sqlite } from '../sql/dialects/sqlite';

const LONGEST_OPENING_MS = 5000;

export interface SqliteSettings {
  /** `''` and `':memory:'` exist only in the connection of the application. */
  readonly file: string;
  /** Opens a connection of our own to the same file, which never blocks the event loop to wait for another writer. */
  readonly open: () => CloseableDatabase | Promise<CloseableDatabase>;
  /** The connection of the application. A database in memory has no other. */
  readonly shared?: (() => SqliteDatabase | Promise<SqliteDatabase>) | undefined;
}

export interface CloseableDatabase extends SqliteDatabase {
  close(): unknown;
}

/** Options of our own connections. A wrong path must fail instead of creating an empty database. */
export const OWN_SQLITE_OPTIONS = { timeout: 0, fileMustExist: true };

export function sqliteDatabase({ file, open, shared }: SqliteSettings): SqlDatabase {
  const isInMemory = file === '' || file.includes(':memory:');
  const path = isInMemory || isAbsolute(file) ? file : resolve(file);
  const opened = isInMemory ? undefined : new OpenedFile(path);
  return {
    dialect: sqlite,
    place: `sqlite:${path}`,
    address: `SQLite (${path || 'temporary'})`,
    title: `SQLite (${basename(path) || 'temporary'})`,
    name: undefined,
    file: isInMemory ? undefined : path,
    findLoss: () => opened?.findLoss(),
    isInMemory,
    redact: (message) => message,
    connect: ({ clock, warn }) =>
      isInMemory && shared !== undefined
        ? { size: 1, open: async () => new SqliteConnection(await shared(), clock, true) }
        : new OwnSqliteConnection(open, clock, warn, opened),
  };
}

/** A connection of our own to the application's file. After a failure, the next use opens it again. */
class OwnSqliteConnection implements ConnectionSource {
  readonly size = 1;
  #opening: Promise<CloseableDatabase> | undefined;

  constructor(
    private readonly openFile: SqliteSettings['open'],
    private readonly clock: Clock,
    private readonly warn: (message: string) => void,
    private readonly file: OpenedFile | undefined,
  ) {}

  async open(): Promise<SqlConnection> {
    this.#opening ??= this.#opened().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return new SqliteConnection(await this.#opening, this.clock, false, this.file);
  }

  async close(): Promise<void> {
    const database = await this.#opening?.catch(() => undefined); // If it never opened, there is nothing to close.
    this.#opening = undefined;
    database?.close();
  }

  async #opened(): Promise<CloseableDatabase> {
    const database = await this.openFile();
    this.file?.remember();
    database.pragma('busy_timeout = 0');
    const statement = { id: '', text: 'PRAGMA journal_mode', values: [] };
    const endsAtMs = this.clock.monotonicMs() + LONGEST_OPENING_MS;
    try {
      const { rows } = await new SqliteConnection(database, this.clock).execute(statement, endsAtMs);
      if (rows[0]?.['journal_mode'] !== 'wal')
        this.warn(
          'The SQLite file is in rollback mode, in which readers and writers block each other, and so also delay locks. Switch it to WAL: PRAGMA journal_mode = WAL, or enableWAL: true in the options of a DataSource.',
        );
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  }
}

interface SqliteStatement {
  /** Whether it returns rows. */
  readonly reader: boolean;
  safeIntegers(isBigint: boolean): unknown;
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): unknown;
}

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
class SqliteConnection implements SqlConnection {
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

/** By connection and text. There are few different texts. */
const PREPARED = new WeakMap<SqliteDatabase, Map<string, SqliteStatement>>();

export function runStatement(database: SqliteDatabase, { text, values }: SqlStatement): SqlResult {
  // Preparing takes several times as long as running. SQLite prepares a statement again if its table has changed.
  const prepared = PREPARED.get(database) ?? new Map<string, SqliteStatement>();
  PREPARED.set(database, prepared);
  const statement = prepared.get(text) ?? database.prepare(text);
  prepared.set(text, statement);
  statement.safeIntegers(false); // The application can have made bigint the default.
  const rows = statement.reader ? statement.all(...values) : [];
  if (!statement.reader) statement.run(...values);
  return { rows: rows as readonly SqlRow[], affectedRows: undefined, insertId: undefined };
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

/** A connection keeps the file that it has opened, even if another one takes its place at the path. */
class OpenedFile {
  #opened: string | undefined;

  constructor(private readonly path: string) {}

  /** Call it when a connection has opened the file. The first call counts. */
  remember(): void {
    this.#opened ??= this.#identity();
  }

  /** Why the opened file can no longer be used. `undefined` if it is still at its path, or if that is unknown. */
  findLoss(): SqlExecutionError | undefined {
    if (this.#opened === undefined || this.#identity() === this.#opened) return undefined;
    return new SqlExecutionError(
      `the file ${this.path} was replaced or removed while this process had it open. Restart the process, and replace a database only while no process has it open`,
      'not-sent',
    );
  }

  /** `undefined` without a file, or without inodes, as on some file systems of Windows. */
  #identity(): string | undefined {
    const { dev, ino } = statSync(this.path, { bigint: true, throwIfNoEntry: false }) ?? {};
    return ino ? `${dev}:${ino}` : undefined;
  }
}
