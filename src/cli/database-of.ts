/* eslint-disable @typescript-eslint/no-require-imports -- only the driver of the address is loaded */
import type * as sqlite from '../storage/better-sqlite3/sqlite-driver';
import type * as mysql from '../storage/mysql2/mysql-driver';
import type * as postgres from '../storage/pg/postgres-driver';
import type { SqlDatabase } from '../storage/sql/database/sql-database';
import { databaseOf, isDataSourceOptions } from '../storage/typeorm/database';
import type * as typeorm from '../storage/typeorm/typeorm-driver';
import { exportedValue, isDataSource } from './exported-value';
import { UsageError } from './failure';
import type { Options } from './options';
import { io } from './terminal';

/** The database that a command works on. */
export interface OpenedDatabase extends SqlDatabase {
  /** Creates the SQLite file of the database with the settings of the application. Not needed for an address. */
  readonly createFile?: () => Promise<void>;
}

interface OpenOptions {
  /** Whether a SQLite file that is missing is created. */
  readonly creates: boolean;
}

type Opener = (url: string, options: OpenOptions) => SqlDatabase;

const mysqlAt: Opener = (url) => {
  require('../integrations/mysql2/peer');
  return (require('../storage/mysql2/mysql-driver') as typeof mysql).mysqlDriver.read(url);
};

const postgresAt: Opener = (url) => {
  require('../integrations/pg/peer');
  return (require('../storage/pg/postgres-driver') as typeof postgres).postgresDriver.read(url);
};

const sqliteAt: Opener = (url, options) => {
  require('../integrations/better-sqlite3/peer');
  return (require('../storage/better-sqlite3/sqlite-driver') as typeof sqlite).readSqlite(url, options);
};

/** What opens the database of an address, by the beginning of the address. */
const OPENERS: Readonly<Record<string, Opener>> = {
  'mysql://': mysqlAt,
  'mariadb://': mysqlAt,
  'postgres://': postgresAt,
  'postgresql://': postgresAt,
  'sqlite:': sqliteAt,
};

/**
 * @throws UsageError if the options lead to no database
 * @throws CronlatchError naming the package to install if the driver is missing
 */
export async function openDatabase(
  { url, dataSource }: Pick<Options, 'url' | 'dataSource'>,
  options: OpenOptions,
): Promise<OpenedDatabase> {
  const opened = dataSource === undefined ? openAddress(url, options) : await openDataSource(dataSource);
  if (!opened.isInMemory) return opened;
  await opened.close?.();
  throw new UsageError(
    'The database is in memory, so only the application can use it. Create its tables there, with createTables() or a migration.',
  );
}

function openAddress(option: string | undefined, options: OpenOptions): OpenedDatabase {
  const url = option ?? io.env['DATABASE_URL'];
  if (!url) throw new UsageError('No database was given. Set DATABASE_URL, or pass --url URL or -d FILE.');
  const open = Object.entries(OPENERS).find(([start]) => url.toLowerCase().startsWith(start))?.[1];
  // Without repeating the address, because it can contain a password.
  if (open === undefined)
    throw new UsageError(
      `The address of the database must begin with one of ${Object.keys(OPENERS).join(', ')}.`,
    );
  return open(url, options);
}

const dataSourceWith: typeof typeorm.dataSourceWith = (options) => {
  require('../integrations/typeorm/peer');
  return (require('../storage/typeorm/typeorm-driver') as typeof typeorm).dataSourceWith(options);
};

async function openDataSource(file: string): Promise<OpenedDatabase> {
  const wanted = { option: '-d', kind: 'DataSource', is: isDataSource, orElse: isDataSourceOptions };
  const source = await exportedValue<typeorm.TypeOrmSource>(file, wanted);
  const dataSource = isDataSource(source) ? source : dataSourceWith(source);
  const { driver } = dataSource;
  return {
    ...databaseOf(dataSource),
    // Not dataSource.initialize(), which can also run migrations or synchronize the tables of the application.
    async createFile() {
      await driver.connect();
      await driver.disconnect();
    },
    async close() {
      if (dataSource.isInitialized) await dataSource.destroy();
    },
  };
}
