import type { DataSource } from 'typeorm';
import type { Clock } from '../../core';
import type { ConnectionSource, SqlConnection } from '../sql/connections/pooled-sql-executor';
import { OwnDataSource } from './own-data-source';
import { ownSqliteOptions } from './own-data-source-options';
import { SqliteConnection, type SqliteDatabase } from './sqlite-connection';

const LONGEST_OPENING_MS = 5000;

/** A connection of our own to the application's file. */
export class OwnSqliteConnection implements ConnectionSource {
  readonly size = 1;
  readonly #dataSource: OwnDataSource;
  #checked = false;

  constructor(
    application: DataSource,
    private readonly clock: Clock,
    private readonly warn: (message: string) => void,
  ) {
    this.#dataSource = new OwnDataSource(() => ownSqliteOptions(application), clock, LONGEST_OPENING_MS);
  }

  async open(): Promise<SqlConnection> {
    const database = await handleOf(await this.#dataSource.get());
    if (!this.#checked) await this.#check(database);
    return new SqliteConnection(database, this.clock);
  }

  async close(): Promise<void> {
    await this.#dataSource.close();
  }

  async #check(database: SqliteDatabase): Promise<void> {
    database.pragma('busy_timeout = 0');
    const statement = { id: '', text: 'PRAGMA journal_mode', values: [] };
    const endsAtMs = this.clock.monotonicMs() + LONGEST_OPENING_MS;
    const { rows } = await new SqliteConnection(database, this.clock).execute(statement, endsAtMs);
    this.#checked = true;
    if (rows[0]?.['journal_mode'] === 'wal') return;
    this.warn(
      'The SQLite file is in rollback mode, in which readers and writers block each other, and so also delay locks. Set enableWAL: true in the DataSource options.',
    );
  }
}

/** An in-memory database exists only in the application's DataSource, so its connection is shared. */
export class SharedSqliteConnection implements ConnectionSource {
  readonly size = 1;

  constructor(
    private readonly application: DataSource,
    private readonly clock: Clock,
  ) {}

  async open(): Promise<SqlConnection> {
    if (!this.application.isInitialized)
      throw new Error(
        'the DataSource of this in-memory database is not initialized: await dataSource.initialize() first',
      );
    return new SqliteConnection(await handleOf(this.application), this.clock);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function handleOf(dataSource: DataSource): Promise<SqliteDatabase> {
  return (await dataSource.createQueryRunner('master').connect()) as SqliteDatabase;
}
