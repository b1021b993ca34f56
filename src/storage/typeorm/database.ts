import { isAbsolute, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { InvalidLockConfigurationError } from '../../core';
import { mysql } from '../sql/dialects/mysql';
import { postgres } from '../sql/dialects/postgres';
import { sqlite } from '../sql/dialects/sqlite';
import { lockTableOf, type LockTable, type LockTableOptions } from '../sql/schema/lock-table';
import { runTablesOf, type RunTableOptions, type RunTables } from '../sql/schema/run-tables';
import type { SqlDialect } from '../sql/dialects/sql-dialect';

/** The kinds of DataSource whose databases can hold the tables. */
const DIALECTS: Readonly<Record<string, SqlDialect>> = {
  ...{ mysql, mariadb: mysql, postgres },
  ...{ 'better-sqlite3': sqlite },
};

/** @throws InvalidLockConfigurationError that lists what is supported */
export function dialectOf(type: string): SqlDialect {
  const dialect = DIALECTS[type];
  if (dialect !== undefined) return dialect;
  const supported = Object.keys(DIALECTS).join(', ');
  throw new InvalidLockConfigurationError(
    `A DataSource of type '${type}' is not supported. Use one of type ${supported}.`,
  );
}

/** A description of the application's database, made without connecting to it. */
export interface DatabaseDescription {
  readonly dialect: SqlDialect;
  /** The same on every instance that uses this database. */
  readonly place: string;
  /** For messages: the address, without credentials. */
  readonly address: string;
  /** The database exists only inside the DataSource, which has the only connection to it. */
  readonly isInMemory: boolean;
  readonly redact: (message: string) => string;
}

interface Credentials {
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  readonly database?: string;
  /** On PostgreSQL it can also be a function. */
  readonly password?: unknown;
}

export function describeDatabase({ options }: DataSource): DatabaseDescription {
  const dialect = dialectOf(options.type);
  const settings = options as Credentials & { replication?: { master: Credentials } };
  return dialect === sqlite
    ? describeFile(settings)
    : describeServer(dialect, options.type, { ...settings, ...settings.replication?.master });
}

function describeFile({ database = '' }: Credentials): DatabaseDescription {
  const isInMemory = database === '' || database.includes(':memory:');
  const path = isInMemory || isAbsolute(database) ? database : resolve(database);
  return {
    dialect: sqlite,
    place: `sqlite:${path}`,
    address: `SQLite (${path || 'temporary'})`,
    isInMemory,
    redact: (message) => message,
  };
}

const PORTS = { mysql: 3306, postgres: 5432, sqlite: undefined };

function describeServer(
  dialect: SqlDialect,
  type: string,
  { url, host = 'localhost', port = PORTS[dialect.name], socketPath, database = '', password }: Credentials,
): DatabaseDescription {
  const parsed = url === undefined || !URL.canParse(url) ? undefined : new URL(url);
  const address =
    socketPath ?? (parsed === undefined ? `${host}:${port}` : `${parsed.hostname}:${parsed.port || port}`);
  const secrets = [password, url, parsed?.password, parsed && decodeURIComponent(parsed.password)].filter(
    (secret) => typeof secret === 'string' && secret !== '',
  ) as string[];
  return {
    dialect,
    place: `${dialect.name}:${parsed === undefined ? database : parsed.pathname.slice(1)}`,
    address: `${type === 'mariadb' ? 'MariaDB' : dialect.label} at ${address}`,
    isInMemory: false,
    redact: (message) => secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message),
  };
}

/** On PostgreSQL, the default schema of the table is the `schema` option of the DataSource. */
export function lockTableIn(dataSource: DataSource, named: LockTableOptions): LockTable {
  return lockTableOf({ ...named, schema: schemaIn(dataSource, named.schema, named.lockTable) });
}

/** The same for the ledger's tables. */
export function runTablesIn(dataSource: DataSource, named: RunTableOptions): RunTables {
  return runTablesOf({ ...named, schema: schemaIn(dataSource, named.schema, named.runTable) });
}

function schemaIn(
  { options }: DataSource,
  named: string | undefined,
  table: string | undefined,
): string | undefined {
  const { schema } = options as { schema?: string };
  const isElsewhere = named !== undefined || table?.includes('.');
  return options.type !== 'postgres' || isElsewhere ? named : schema;
}
