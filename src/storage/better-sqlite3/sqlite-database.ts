import { isAbsolute, resolve } from 'node:path';
import { InvalidLockConfigurationError, type Clock } from '../../core';
import type { ConnectionSource, SqlConnection } from '../sql/connections/sql-executor';
import type { SqlDatabase } from '../sql/database/sql-database';
import { sqlite } from '../sql/dialects/sqlite';
import { OpenedFile } from './opened-file';
import { SqliteConnection, type SqliteDatabase } from './sqlite-connection';

const LONGEST_OPENING_MS = 5000;

export interface SqliteSettings {
  /** `''` and `':memory:'` exist only in the connection of the application. */
  readonly file: string;
  /** Opens a connection of our own to the same file, which never blocks the event loop to wait for another writer. */
  readonly open: () => CloseableDatabase | Promise<CloseableDatabase>;
  /** The connection of the application. Without it, the connection cannot be shared. */
  readonly shared?: (() => SqliteDatabase | Promise<SqliteDatabase>) | undefined;
  /** The handle or the DataSource that the application has passed. */
  readonly owner?: object | undefined;
}

export interface CloseableDatabase extends SqliteDatabase {
  close(): unknown;
}

/** Options of our own connections. A wrong path must fail instead of creating an empty database. */
export const OWN_SQLITE_OPTIONS = { timeout: 0, fileMustExist: true };

export function sqliteDatabase({ file, open, shared, owner }: SqliteSettings): SqlDatabase {
  const isInMemory = file === '' || file.includes(':memory:');
  const path = isInMemory || isAbsolute(file) ? file : resolve(file);
  const opened = isInMemory ? undefined : new OpenedFile(path);
  return {
    dialect: sqlite,
    place: `sqlite:${path}`,
    address: `SQLite (${path || 'temporary'})`,
    name: undefined,
    file: isInMemory ? undefined : path,
    findLoss: () => opened?.findLoss(),
    isInMemory,
    owner: isInMemory ? owner : undefined,
    redact: (message) => message,
    ownConnections: ({ clock, warn }) => new OwnSqliteConnection(open, clock, warn, opened),
    sharedConnections: ({ clock }) => new SharedSqliteConnection(requireHandle(shared), clock, opened),
  };
}

/** @throws InvalidLockConfigurationError if the application has passed no handle */
function requireHandle<T>(shared: T | undefined): T {
  if (shared !== undefined) return shared;
  throw new InvalidLockConfigurationError(
    `connections: 'shared' needs a database that better-sqlite3 has opened. Pass one instead of an address, or leave connections at 'own'.`,
  );
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

/** The connection of the application. An in-memory database has no other. */
class SharedSqliteConnection implements ConnectionSource {
  readonly size = 1;

  constructor(
    private readonly shared: NonNullable<SqliteSettings['shared']>,
    private readonly clock: Clock,
    private readonly file: OpenedFile | undefined,
  ) {}

  async open(): Promise<SqlConnection> {
    const database = await this.shared();
    this.file?.remember();
    return new SqliteConnection(database, this.clock, true, this.file);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
