import { isAbsolute, resolve } from 'node:path';
import type { DataSource } from 'typeorm';
import { InvalidLockConfigurationError } from '../../core';
import { mysql } from '../sql/dialects/mysql';
import { sqlite } from '../sql/dialects/sqlite';
import type { SqlDialect } from '../sql/sql-dialect';

/** The kinds of DataSource whose databases can hold the lock table. */
const DIALECTS: Readonly<Record<string, SqlDialect>> = { mysql, 'better-sqlite3': sqlite };

/** @throws InvalidLockConfigurationError that lists what is supported */
export function dialectOf(type: string): SqlDialect {
  const dialect = DIALECTS[type];
  if (dialect !== undefined) return dialect;
  const supported = Object.keys(DIALECTS).join(', ');
  throw new InvalidLockConfigurationError(
    `A DataSource of type '${type}' cannot hold the lock table. Supported: ${supported}.`,
  );
}

/** What is known of the application's database without connecting to it. */
export interface DatabaseDescription {
  readonly dialect: SqlDialect;
  /** The same on every instance that uses this database. */
  readonly place: string;
  /** For people: where it is, without credentials. */
  readonly address: string;
  /** The database has one handle, inside the DataSource. */
  readonly isInMemory: boolean;
  readonly redact: (message: string) => string;
}

interface Credentials {
  readonly url?: string;
  readonly host?: string;
  readonly port?: number;
  readonly socketPath?: string;
  readonly database?: string;
  readonly password?: string;
}

export function describeDatabase({ options }: DataSource): DatabaseDescription {
  const dialect = dialectOf(options.type);
  const settings = options as Credentials & { replication?: { master: Credentials } };
  return dialect === sqlite
    ? describeFile(settings)
    : describeServer({ ...settings, ...settings.replication?.master });
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

function describeServer({
  url,
  host = 'localhost',
  port = 3306,
  socketPath,
  database = '',
  password,
}: Credentials): DatabaseDescription {
  const parsed = url === undefined || !URL.canParse(url) ? undefined : new URL(url);
  const address =
    socketPath ?? (parsed === undefined ? `${host}:${port}` : `${parsed.hostname}:${parsed.port || port}`);
  const secrets = [password, url, parsed?.password, parsed && decodeURIComponent(parsed.password)].filter(
    (secret) => !!secret,
  ) as string[];
  return {
    dialect: mysql,
    place: `mysql:${parsed === undefined ? database : parsed.pathname.slice(1)}`,
    address: `MySQL at ${address}`,
    isInMemory: false,
    redact: (message) => secrets.reduce((text, secret) => text.replaceAll(secret, '***'), message),
  };
}
