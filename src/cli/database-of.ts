/* eslint-disable @typescript-eslint/no-require-imports -- TypeORM is loaded only if a file needs it */
import { driverOf, PROTOCOLS } from '../integrations/drivers/driver-of';
import type { SqlDatabase } from '../storage/sql/connections/sql-database';
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

/**
 * @throws UsageError if the options lead to no database
 * @throws CronlatchError naming the package to install if the driver is missing
 */
export async function openDatabase(
  { url, dataSource }: Pick<Options, 'url' | 'dataSource'>,
  { creates }: { readonly creates: boolean },
): Promise<OpenedDatabase> {
  const opened = dataSource === undefined ? openAddress(url, creates) : await openDataSource(dataSource);
  if (!opened.isInMemory) return opened;
  await opened.close?.();
  throw new UsageError(
    'The database is in memory, so only the application can use it. Create its tables there, with createTables() or a migration.',
  );
}

function openAddress(option: string | undefined, creates: boolean): OpenedDatabase {
  const url = option ?? io.env['DATABASE_URL'];
  if (!url) throw new UsageError('No database was given. Set DATABASE_URL, or pass --url URL or -d FILE.');
  const read = driverOf(url);
  // Without repeating the address, because it can contain a password.
  if (read === undefined)
    throw new UsageError(`The address of the database must begin with one of ${PROTOCOLS.join(', ')}.`);
  return read(url, { creates });
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
