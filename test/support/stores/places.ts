import assert from 'node:assert/strict';
import * as mysql2 from 'mysql2';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { systemClock } from '#cronlatch/core/clock';
import { DatabaseAccess, type DatabaseAccessOptions } from '#cronlatch/storage/sql/database/database-access';
import {
  SqlLockProvider,
  type SqlLockProviderOptions,
} from '#cronlatch/storage/sql/database/sql-lock-provider';
import type { SqlDatabase } from '#cronlatch/storage/sql/database/sql-database';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { GroupingStorageAccessor } from '#cronlatch/storage/sql/lock/grouping-storage-accessor';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { DataSource } from 'typeorm';
import { APPLICATION_TABLE } from '../databases/ambient-transaction';
import type { TestDatabase } from '../databases/fresh';
import { ledgerDataSource } from '../databases/run-tables';
import { StaleReader } from '../faults/stale-reader';
import { driverPlace } from './driver-place';
import type { IsolationLevel, SqlVariant } from './variants';

/** A database with empty tables of locks and runs. */
export interface Place {
  readonly database: TestDatabase;
  /** Two instances of the application. */
  readonly application: DataSource;
  readonly otherApplication: DataSource;
  /** Connected separately, so it never joins a transaction of the application. */
  readonly operator: DataSource;
  /** Makes plain reads stale. */
  readonly reader: StaleReader;
  /** The stores of both instances. */
  readonly stores: PlaceStores;
  readonly otherStores: PlaceStores;
}

/** How an instance creates its stores. It ends with the place, after them. */
interface PlaceStores {
  readonly locks: (options: SqlLockProviderOptions) => StorageBasedLockProvider;
  readonly runs: () => SqlRunStore & { close(): Promise<void> };
  readonly close: () => Promise<void>;
}

/** Databases that several cases use in turn, because creating one takes longer than a case. */
export class ContractPlaces {
  readonly #free: Place[] = [];

  constructor(
    readonly variant: SqlVariant,
    private readonly create: () => TestDatabase | Promise<TestDatabase>,
  ) {}

  async take(): Promise<Place> {
    return this.#free.pop() ?? (await this.#open());
  }

  async giveBack(place: Place): Promise<void> {
    this.#free.push(place);
    for (const table of ['shedlock', 'cronlatch_run_event', 'cronlatch_run', 'cronlatch_job'])
      await place.operator.query(`DELETE FROM ${table}`);
  }

  async dispose(): Promise<void> {
    for (const { database, ...place } of this.#free) {
      const dataSources = [place.application, place.otherApplication, place.operator];
      await Promise.all([place.stores.close(), place.otherStores.close()]);
      await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
      await database.dispose();
    }
  }

  async #open(): Promise<Place> {
    const database = await this.create();
    const operator = await ledgerDataSource(database);
    await operator.query(APPLICATION_TABLE);
    const application = await this.#applicationAt(database);
    const otherApplication = await this.#applicationAt(database);
    const reader = new StaleReader(operator);
    const stores = this.#storesOf(database, application, reader);
    const otherStores = this.#storesOf(database, otherApplication, reader);
    return { database, application, otherApplication, operator, reader, stores, otherStores };
  }

  #storesOf({ options }: TestDatabase, application: DataSource, reader: StaleReader): PlaceStores {
    const { driver, connections, keepRows, grouping } = this.variant;
    if (driver === undefined)
      return {
        locks: (more) => lockProvider(databaseOf(application), { connections, keepRows, ...more }, reader),
        runs: () => runStore(databaseOf(application), { connections }, reader),
        close: () => Promise.resolve(),
      };
    const { url, database: file } = options as { url?: string; database?: string };
    const { database, close } = driverPlace(driver, connections, url ?? `${file}`);
    return {
      locks: (more) =>
        grouping === 'always'
          ? groupedProvider(database, more, reader)
          : lockProvider(database, { connections, ...more }, reader),
      runs: () => runStore(database, { connections }, reader),
      close,
    };
  }

  async #applicationAt({ options }: TestDatabase): Promise<DataSource> {
    const level = this.variant.connections === 'shared' ? this.variant.isolationLevel : undefined;
    const sessions = SESSIONS[options.type];
    const dataSource = new DataSource({ ...options, ...(level && sessions?.at(level)) });
    await dataSource.initialize();
    if (level !== undefined) assert.equal(await sessions?.levelOf(dataSource), level);
    return dataSource;
  }
}

/** Its plain reads can be made stale. */
function accessThrough(
  reader: StaleReader,
  database: SqlDatabase,
  options: SqlLockProviderOptions,
): DatabaseAccess {
  const access = new DatabaseAccess(database, options);
  const connections = reader.wrap(access.forTables.connections);
  return Object.assign(access, { forTables: { ...access.forTables, connections } });
}

function runStore(
  database: SqlDatabase,
  options: DatabaseAccessOptions,
  reader: StaleReader,
): SqlRunStore & { close(): Promise<void> } {
  const access = accessThrough(reader, database, options);
  return Object.assign(new SqlRunStore(access.forRuns({})), { close: () => access.close() });
}

function lockProvider(
  database: SqlDatabase,
  options: SqlLockProviderOptions,
  reader: StaleReader,
): StorageBasedLockProvider {
  const access = accessThrough(reader, database, options);
  const provider = new SqlLockProvider(database, options, access);
  const close = provider.close.bind(provider);
  return Object.assign(provider, { close: () => close().then(() => access.close()) });
}

/** Every statement for a lock is that of a group, even if the group has one member. */
function groupedProvider(
  database: SqlDatabase,
  options: SqlLockProviderOptions,
  reader: StaleReader,
): StorageBasedLockProvider {
  const access = accessThrough(reader, database, options);
  const table = tableOf('lock', {}, database);
  const { clock = systemClock } = options;
  const accessor = new GroupingStorageAccessor({
    ...access.forTables,
    ...{ table, clock, random: Math.random, shortestLimitMs: 0, smallestGroup: 1 },
  });
  const closing = Object.assign(accessor, { close: () => access.close() });
  return new StorageBasedLockProvider(closing, { ...options, id: String(database.name) });
}

interface Sessions {
  /** Options of a DataSource all of whose sessions have this isolation level. */
  readonly at: (level: IsolationLevel) => object;
  readonly levelOf: (dataSource: DataSource) => Promise<string | undefined>;
}

const OF_MYSQL: Sessions = {
  at: (level) => ({
    driver: { ...mysql2, createPool: (options: mysql2.PoolOptions) => poolAt(level, options) },
  }),
  async levelOf(dataSource) {
    // For a long time MariaDB had only the second name.
    const [row] = await dataSource.query<{ Value: string }[]>(
      `SHOW VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')`,
    );
    return row?.Value.replace('-', ' ');
  },
};

const OF_POSTGRES: Sessions = {
  at: (level) => ({
    extra: { options: `-c default_transaction_isolation=${level.toLowerCase().replace(' ', '\\ ')}` },
  }),
  async levelOf(dataSource) {
    const [row] = await dataSource.query<{ transaction_isolation: string }[]>('SHOW transaction_isolation');
    return row?.transaction_isolation.toUpperCase();
  },
};

const SESSIONS: Readonly<Record<string, Sessions>> = {
  mysql: OF_MYSQL,
  mariadb: OF_MYSQL,
  postgres: OF_POSTGRES,
};

function poolAt(level: IsolationLevel, options: mysql2.PoolOptions): mysql2.Pool {
  const pool = mysql2.createPool(options);
  pool.on('connection', (connection) => {
    connection.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${level}`, (error: unknown) =>
      assert.equal(error, null),
    );
  });
  return pool;
}
