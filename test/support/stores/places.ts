import { StorageBasedLockProvider } from 'cronlatch/provider';
import { systemClock } from '#cronlatch/core/clock';
import { DatabaseAccess } from '#cronlatch/storage/sql/database/database-access';
import {
  SqlLockProvider,
  type SqlLockProviderOptions,
} from '#cronlatch/storage/sql/database/sql-lock-provider';
import type { SqlDatabase } from '#cronlatch/storage/sql/connections/sql-database';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { GroupingStorageAccessor } from '#cronlatch/storage/sql/lock/grouping-storage-accessor';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { DataSource } from 'typeorm';
import { APPLICATION_TABLE } from '../databases/ambient-transaction';
import type { TestDatabase } from '../databases/fresh';
import { ledgerDataSource } from '../databases/run-tables';
import { StaleReader } from '../faults/stale-reader';
import { driverDatabase } from './driver-database';
import type { SqlVariant } from './variants';

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

/** How an instance creates its stores. */
interface PlaceStores {
  readonly locks: (options: SqlLockProviderOptions) => StorageBasedLockProvider;
  readonly runs: () => SqlRunStore & { close(): Promise<void> };
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
      await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
      await database.dispose();
    }
  }

  async #open(): Promise<Place> {
    const database = await this.create();
    const operator = await ledgerDataSource(database);
    await operator.query(APPLICATION_TABLE);
    const application = await new DataSource(database.options).initialize();
    const otherApplication = await new DataSource(database.options).initialize();
    const reader = new StaleReader(operator);
    const stores = this.#storesOf(database, application, reader);
    const otherStores = this.#storesOf(database, otherApplication, reader);
    return { database, application, otherApplication, operator, reader, stores, otherStores };
  }

  #storesOf({ options }: TestDatabase, application: DataSource, reader: StaleReader): PlaceStores {
    const { driver, keepRows, grouping } = this.variant;
    const { url, database: file } = options as { url?: string; database?: string };
    const database =
      driver === undefined ? databaseOf(application) : driverDatabase(driver, url ?? `sqlite:${file}`);
    return {
      locks: (more) =>
        grouping === 'always'
          ? groupedProvider(database, more, reader)
          : lockProvider(database, { keepRows, ...more }, reader),
      runs: () => runStore(database, reader),
    };
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

function runStore(database: SqlDatabase, reader: StaleReader): SqlRunStore & { close(): Promise<void> } {
  const access = accessThrough(reader, database, {});
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
