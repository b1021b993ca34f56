import { InvalidLockConfigurationError, type Clock } from '../../../core';
import type { ConnectionSource } from '../connections/pooled-sql-executor';
import type { ConnectionPool } from '../connections/server-driver';
import type { SqlDialect } from '../dialects/sql-dialect';
import { lockTableOf, type LockTable, type LockTableOptions } from '../schema/lock-table';
import { runTablesOf, type RunTableOptions, type RunTables } from '../schema/run-tables';

interface ConnectionSettings {
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
  readonly warn: (message: string) => void;
}

/** The application's database, described without connecting to it. */
export interface SqlDatabase {
  readonly dialect: SqlDialect;
  /** The same on every instance that uses this database. */
  readonly place: string;
  /** For messages: the address, without credentials. */
  readonly address: string;
  /** The database that new connections begin in. */
  readonly name: string | undefined;
  /** The schema of tables that name none. `undefined`: that of the connection. */
  readonly schema?: string | undefined;
  /** The path of a SQLite file. */
  readonly file?: string | undefined;
  /** The application has the only connection to it. */
  readonly isInMemory: boolean;
  /** Removes secrets from a driver's message. */
  readonly redact: (message: string) => string;
  readonly ownConnections: (settings: ConnectionSettings) => ConnectionSource;
  /** @throws InvalidLockConfigurationError if there is no pool, or if its sessions could mix up different locks */
  readonly sharedConnections: (settings: ConnectionSettings) => ConnectionSource;
}

/** Where a server is, and what must not appear in a message. */
export interface ServerAddress {
  readonly host?: string | undefined;
  readonly port?: number | string | undefined;
  readonly socketPath?: string | undefined;
  readonly database?: string | undefined;
  /** Only texts are removed: a password can also be a function. */
  readonly secrets: readonly unknown[];
  /** The name of the server's kind in messages. Default: that of the dialect. */
  readonly label?: string | undefined;
}

type ServerDescription = Pick<
  SqlDatabase,
  'dialect' | 'place' | 'address' | 'name' | 'isInMemory' | 'redact'
>;

const PORTS = { mysql: 3306, postgres: 5432, sqlite: undefined };

export function describeServer(
  dialect: SqlDialect,
  { host = 'localhost', port = PORTS[dialect.name], socketPath, database, secrets, label }: ServerAddress,
): ServerDescription {
  const texts = secrets.filter((secret) => typeof secret === 'string' && secret !== '') as string[];
  return {
    dialect,
    place: `${dialect.name}:${database ?? ''}`,
    address: `${label ?? dialect.label} at ${socketPath ?? `${host}:${port}`}`,
    name: database,
    isInMemory: false,
    redact: (message) => texts.reduce((text, secret) => text.replaceAll(secret, '***'), message),
  };
}

/** The parts of an address such as `mysql://user:password@host:3306/database`. */
export interface ParsedUrl {
  readonly host?: string;
  readonly port?: number;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

export function parseUrl(text: string): ParsedUrl & { readonly parameters: URLSearchParams } {
  const { hostname, port, username, password, pathname, searchParams } = new URL(text);
  return {
    ...(hostname === '' ? {} : { host: decodeURIComponent(hostname) }),
    ...(port === '' ? {} : { port: Number(port) }),
    ...(username === '' ? {} : { user: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(pathname.length < 2 ? {} : { database: decodeURIComponent(pathname.slice(1)) }),
    parameters: searchParams,
  };
}

/** @throws InvalidLockConfigurationError if the application has passed no pool */
export function requirePool(pool: ConnectionPool | undefined): ConnectionPool {
  if (pool !== undefined) return pool;
  throw new InvalidLockConfigurationError(
    `connections: 'shared' needs a pool of the application. Pass a pool instead of an address, or leave connections at 'own'.`,
  );
}

/** The lock table. On PostgreSQL, its default schema is that of the database. */
export function lockTableIn(database: Pick<SqlDatabase, 'schema'>, named: LockTableOptions): LockTable {
  return lockTableOf({ ...named, schema: schemaIn(database, named.schema, named.lockTable) });
}

/** The same for the ledger's tables. */
export function runTablesIn(database: Pick<SqlDatabase, 'schema'>, named: RunTableOptions): RunTables {
  return runTablesOf({ ...named, schema: schemaIn(database, named.schema, named.runTable) });
}

function schemaIn(
  { schema }: Pick<SqlDatabase, 'schema'>,
  named: string | undefined,
  table: string | undefined,
): string | undefined {
  return named !== undefined || table?.includes('.') ? named : schema;
}
