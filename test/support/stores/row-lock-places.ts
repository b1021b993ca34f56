import type { Duration } from 'cronlatch';
import type { LockProviderFixture } from 'cronlatch/contracts';
import { SettableClock } from 'cronlatch/testing';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { parseDuration } from '#cronlatch/core/duration';
import type { SqlDatabase } from '#cronlatch/storage/sql/connections/sql-database';
import { SqlRowLockProvider } from '#cronlatch/storage/sql/row-lock/row-lock-provider';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { DataSource } from 'typeorm';
import { APPLICATION_TABLE, ambientTransaction } from '../databases/ambient-transaction';
import { databaseOn, type ServerName, type TestDatabase } from '../databases/fresh';
import { StatementsInFlight } from '../faults/statements-in-flight';

const migrations = [createCronlatchMigration({ tables: ['row-lock'] })];

/** The application's DataSource, connected, with the table of row locks in its database. */
export async function rowLockDataSource({ options }: TestDatabase): Promise<DataSource> {
  const dataSource = await new DataSource({ ...options, migrations }).initialize();
  await dataSource.runMigrations();
  return dataSource;
}

/** Creates the table of row locks beside the application's own tables. SQLite has none. */
export async function createRowLockTable(dataSource: DataSource): Promise<void> {
  const { options } = dataSource;
  if (options.type === 'better-sqlite3') return;
  const own = await new DataSource({ ...options, entities: [], migrations }).initialize();
  await own.runMigrations();
  await own.destroy();
}

interface Place {
  readonly database: TestDatabase;
  readonly application: DataSource;
  /** Connected separately, so it never joins a transaction of the application. */
  readonly operator: DataSource;
}

/** Enough for ten held locks. Two hundred callers then share what is left, so they get more time than by default. */
const CONNECTIONS = { maxConnections: 12, statementTimeout: '1m' } as const;

/**
 * Databases that several cases use in turn. A row that a transaction has locked cannot be moved back in time, so the
 * database's clock itself moves: it is the time of the server, plus what a table holds.
 */
export class RowLockPlaces {
  readonly #all: Place[] = [];
  readonly #free: Place[] = [];

  constructor(private readonly server: ServerName) {}

  async fixture(): Promise<LockProviderFixture<RowLockLacks>> {
    const place = this.#free.pop() ?? (await this.#open());
    const { application, operator } = place;
    const clock = new SettableClock();
    const sent = new StatementsInFlight();
    const database = withClockTable(databaseOf(application), sent);
    const provider = new SqlRowLockProvider(database, { clock, ...CONNECTIONS });
    const other = new SqlRowLockProvider(database, { clock, ...CONNECTIONS });
    return {
      provider,
      other,
      async elapse(duration: Duration) {
        const us = Math.round(parseDuration(duration, 'elapse') * 1000);
        await operator.query(`UPDATE contract_clock SET us = us + ${us}`);
        clock.advance(duration);
        await sent.ended();
      },
      ambientTransaction: (end, body) => ambientTransaction(application, end, body),
      dispose: async () => {
        await Promise.all([provider.close(), other.close()]);
        await operator.query('DELETE FROM cronlatch_row_lock');
        await operator.query('UPDATE contract_clock SET us = 0');
        this.#free.push(place);
      },
    };
  }

  async dispose(): Promise<void> {
    for (const { database, application, operator } of this.#all) {
      await Promise.all([application.destroy(), operator.destroy()]);
      await database.dispose();
    }
  }

  async #open(): Promise<Place> {
    const database = await databaseOn(this.server);
    const operator = await rowLockDataSource(database);
    await operator.query(APPLICATION_TABLE);
    await operator.query('CREATE TABLE contract_clock (us BIGINT NOT NULL)');
    await operator.query('INSERT INTO contract_clock (us) VALUES (0)');
    const application = await new DataSource(database.options).initialize();
    const place = { database, application, operator };
    this.#all.push(place);
    return place;
  }
}

export type RowLockLacks =
  | 'released'
  | 'inspect'
  | 'list'
  | 'forceRelease'
  | 'deleteRecord'
  | 'existingRecord'
  | 'stall'
  | 'atLeastAfterCrash'
  | 'manyLocks'
  | 'staleReads';

function withClockTable(database: SqlDatabase, sent: StatementsInFlight): SqlDatabase {
  const { dialect, sessions } = database;
  const { inspection } = dialect;
  const moved =
    dialect.name === 'mysql'
      ? (now: string) => `TIMESTAMPADD(MICROSECOND, us, ${now})`
      : (now: string) => `${now} + us * interval '1 microsecond'`;
  return {
    ...database,
    dialect: {
      ...dialect,
      inspection: {
        ...inspection,
        now: (column) => `(SELECT ${moved(inspection.now(column))} FROM contract_clock)`,
      },
    },
    ...(sessions && {
      sessions: {
        ...sessions,
        async open(limitMs: number) {
          const { session, opened } = await sessions.open(limitMs);
          return { session: sent.of(session), opened };
        },
      },
    }),
  };
}
