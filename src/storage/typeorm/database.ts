import type { DataSource, DataSourceOptions, QueryRunner } from 'typeorm';
import { InvalidLockConfigurationError } from '../../core';
import { refuseCrashingDriver } from '../better-sqlite3/installed-driver';
import {
  OWN_SQLITE_OPTIONS,
  sqliteDatabase,
  type CloseableDatabase,
  type SqliteDatabase,
} from '../better-sqlite3/sqlite-database';
import {
  mysqlDatabase,
  mysqlSessionOf,
  type MysqlConnection,
  type MysqlSettings,
} from '../mysql2/mysql-server';
import {
  postgresDatabase,
  postgresSessionOf,
  type PostgresClient,
  type PostgresSettings,
} from '../pg/postgres-server';
import type { DriverSession } from '../sql/connections/server-driver';
import { checkTls, describeSource, isPlainObject, unreadableAddress } from '../sql/database/driver';
import { optionsIn, type PasswordSource, type SqlDatabase } from '../sql/connections/sql-database';
import { mysql } from '../sql/dialects/mysql';
import { postgres } from '../sql/dialects/postgres';
import type { SqlDialect } from '../sql/dialects/sql-dialect';
import { sqlite } from '../sql/dialects/sqlite';

const DIALECTS = new Map<string, SqlDialect>([
  ['mysql', mysql],
  ['mariadb', mysql],
  ['postgres', postgres],
  ['better-sqlite3', sqlite],
]);

export const ENTITY_NAMES = [
  ['lock', 'CronlatchLock'],
  ['run', 'CronlatchRun'],
  ['event', 'CronlatchRunEvent'],
  ['job', 'CronlatchJob'],
  ['act', 'CronlatchRunAct'],
  ['notice', 'CronlatchRunNotice'],
  ['log', 'CronlatchRunLog'],
] as const;

/** The names that TypeORM gives to the tables of these entities, with its prefix and naming strategy. */
function entityTables(dataSource: DataSource): SqlDatabase['tableNames'] {
  const known = ENTITY_NAMES.filter(([, name]) => dataSource.hasMetadata(name));
  return Object.fromEntries(known.map(([kind, name]) => [kind, dataSource.getMetadata(name).tableName]));
}

/** @throws InvalidLockConfigurationError that lists what is supported */
export function dialectOf(type: string): SqlDialect {
  const dialect = DIALECTS.get(type);
  if (dialect !== undefined) return dialect;
  const supported = [...DIALECTS.keys()].join(', ');
  throw new InvalidLockConfigurationError(
    `A DataSource of type '${type}' is not supported. Use one of type ${supported}.`,
  );
}

/** The options of a DataSource that lead to its database. TypeORM gives them to the driver under other names. */
interface DataSourceSettings {
  readonly type: string;
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly username?: string;
  readonly password?: unknown;
  readonly database?: string;
  readonly schema?: string;
  readonly socketPath?: string;
  readonly ssl?: unknown;
  readonly insecureAuth?: boolean;
  readonly charset?: string;
  readonly applicationName?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  /** The key of an encrypted SQLite file. */
  readonly key?: string;
  readonly nativeBinding?: string;
  readonly prepareDatabase?: (database: CloseableDatabase) => unknown;
  /** The package, if TypeORM does not load it itself. */
  readonly driver?: unknown;
  readonly replication?: { readonly master: Partial<DataSourceSettings> };
}

/**
 * The database of a DataSource, which does not need to be initialized.
 *
 * @param asked returns the password, instead of the one in the options
 * @throws InvalidLockConfigurationError for anything else, and for an unsupported kind of database
 */
export function databaseOf(dataSource: DataSource, asked?: PasswordSource): SqlDatabase {
  checkDataSource(dataSource);
  const options = dataSource.options as unknown as DataSourceSettings;
  const dialect = dialectOf(options.type);
  // TypeORM loads the driver's package, or takes the one in the DataSource's option `driver`.
  const driver = dataSource.driver as unknown as {
    readonly mysql: MysqlSettings['mysql2'];
    readonly postgres: { readonly Client: PostgresSettings['Client'] };
    readonly sqlite: new (file: string, options: object) => CloseableDatabase;
  };
  // With replication, the lock belongs to the primary.
  const settings = { ...options, ...options.replication?.master };
  const database =
    dialect === sqlite
      ? fileOf(dataSource, settings, driver.sqlite)
      : dialect === mysql
        ? mysqlOf(settings, driver.mysql, asked)
        : postgresOf(settings, driver.postgres.Client, asked);
  return { ...database, tableNames: entityTables(dataSource) };
}

/** Of any kind of database, also an unsupported one. */
export function isDataSourceOptions(source: unknown): source is DataSourceOptions {
  return isPlainObject(source) && typeof (source as { readonly type?: unknown }).type === 'string';
}

/** By its options, because the application can have another copy of TypeORM. */
function checkDataSource(source: unknown): void {
  const { options } = (source ?? {}) as { readonly options?: { readonly type?: unknown } | null };
  if (typeof options?.type === 'string') return;
  throw new InvalidLockConfigurationError(
    `cronlatch/typeorm cannot use ${describeSource(source)}. Pass a DataSource of TypeORM, or its options.`,
  );
}

function mysqlOf(
  settings: DataSourceSettings,
  mysql2: MysqlSettings['mysql2'],
  asked: PasswordSource | undefined,
): SqlDatabase {
  const { url, host, port, username: user, password, database } = settings;
  const { socketPath, ssl, insecureAuth, charset, extra } = settings;
  const { encodedPassword, ...parsed } = url ? partsOf(url) : {};
  const given = { host, port, user, password, database, ...parsed };
  const options = { ...given, socketPath, ssl, insecureAuth, charset, ...extra };
  checkTls(new URLSearchParams(url?.split('?')[1]), options.ssl);
  const label = settings.type === 'mariadb' ? 'MariaDB' : undefined;
  const address = { ...given, ...options, secrets: [given.password, url, encodedPassword], label, asked };
  return mysqlDatabase({ mysql2, options, address });
}

/** Credentials, host, port, database. As TypeORM reads it, the password can contain anything but a slash. */
const TYPEORM_URL =
  /^[^/]*\/\/(?:([^/:]*)(?::([^/]*))?@)?(\[[^/\]]*\]|[^/:[\]@]*)(?::(\d+))?(?:\/([^?@]*))?(?:\?[^@]*)?$/;

/** @throws InvalidLockConfigurationError without the address, which can contain a password */
function partsOf(url: string): ReturnType<typeof optionsIn> & { readonly encodedPassword: string } {
  const match = TYPEORM_URL.exec(url);
  const [, username = '', password = '', host = '', port = '', database = ''] = match ?? [];
  if (match === null || Number(port) > 65535)
    throw unreadableAddress(url, {
      subpath: 'cronlatch/typeorm',
      example: 'mysql://user:password@host:3306/database',
    });
  return { ...optionsIn({ username, password, host, port, database }), encodedPassword: password };
}

function postgresOf(
  settings: DataSourceSettings,
  Client: PostgresSettings['Client'],
  asked: PasswordSource | undefined,
): SqlDatabase {
  const { url: connectionString, host, port, username: user, password, database } = settings;
  const { ssl, applicationName: application_name, extra, schema } = settings;
  const given = { connectionString, host, port, user, password, database, ssl, application_name };
  return postgresDatabase({ Client, options: { ...given, ...extra }, schema, password: asked });
}

export async function sessionOf(runner: QueryRunner): Promise<DriverSession> {
  const connection: unknown = await runner.connect();
  return dialectOf(dataSourceOf(runner).options.type) === mysql
    ? mysqlSessionOf(connection as MysqlConnection)
    : postgresSessionOf(connection as PostgresClient);
}

function fileOf(
  dataSource: DataSource,
  settings: DataSourceSettings,
  Database: new (file: string, options: object) => CloseableDatabase,
): SqlDatabase {
  const { database: file = '', key, nativeBinding, prepareDatabase, driver } = settings;
  if (nativeBinding === undefined && driver === undefined) refuseCrashingDriver('typeorm');
  return sqliteDatabase({
    file,
    async open() {
      const options = { ...OWN_SQLITE_OPTIONS, ...(nativeBinding !== undefined && { nativeBinding }) };
      const own = new Database(file, options);
      if (key !== undefined) own.pragma(`key = ${JSON.stringify(key)}`);
      await prepareDatabase?.(own);
      return own;
    },
    async shared() {
      if (dataSource.isInitialized) return await handleOf(dataSource.createQueryRunner('master'));
      throw new Error(
        'the DataSource of this in-memory database is not initialized: await dataSource.initialize() first',
      );
    },
  });
}

export async function handleOf(runner: QueryRunner): Promise<SqliteDatabase> {
  return (await runner.connect()) as SqliteDatabase;
}

/**
 * Everything else that the library uses has the same name in TypeORM 0.3 and 1.
 *
 * @param owned a query runner or an entity manager of TypeORM 1, or one of TypeORM 0.3, which has only the old name
 */
export function dataSourceOf(
  owned: { readonly dataSource: DataSource } | { readonly connection: DataSource },
): DataSource {
  return 'dataSource' in owned ? owned.dataSource : owned.connection;
}
