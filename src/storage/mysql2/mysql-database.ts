import { InvalidLockConfigurationError } from '../../core';
import { OwnServerConnections, SharedServerConnections } from '../sql/connections/server-connections';
import type { ConnectionPool, OpeningSession } from '../sql/connections/server-driver';
import {
  describeServer,
  requirePool,
  type ServerAddress,
  type SqlDatabase,
} from '../sql/database/sql-database';
import { mysqlDriver, mysqlSessionOf, type MysqlConnection } from './mysql-driver';
import { mysql } from '../sql/dialects/mysql';

/** Options of mysql2, as they are passed to `createPool`. */
export type MysqlOptions = Readonly<Record<string, unknown>>;

export interface MysqlSettings {
  /** The package, which the application can replace. */
  readonly mysql2: { createConnection(options: object): unknown };
  readonly options: MysqlOptions;
  /** Without it, the connections cannot be shared. */
  readonly pool?: ConnectionPool | undefined;
  readonly address: ServerAddress;
}

/** Options that would change the meaning of answers, the time limits, or the number of connections. */
const EXCLUDED = new Set(
  (
    'connectionLimit max maxIdle queueLimit waitForConnections multipleStatements flags typeCast rowsAsArray ' +
    'nestTables namedPlaceholders queryFormat timezone dateStrings decimalNumbers charset charsetNumber ' +
    'jsonStrings stringifyObjects supportBigNumbers bigNumberStrings connectTimeout resetOnRelease ' +
    // mysql2 computes these.
    'clientFlags maxPacketSize pool isServer Promise idleTimeout uri'
  ).split(' '),
);

/** A database of MySQL or MariaDB. */
export function mysqlDatabase({ mysql2, options, pool, address }: MysqlSettings): SqlDatabase {
  const open = (limitMs: number): OpeningSession => {
    const connection = mysql2.createConnection(ownMysqlOptions(options, limitMs)) as MysqlConnection;
    const opened = new Promise<void>((resolve, reject) =>
      connection.connect((error) => (error ? reject(error) : resolve())),
    );
    return { session: mysqlSessionOf(connection), opened };
  };
  return {
    ...describeServer(mysql, address),
    sessions: { driver: mysqlDriver, open },
    ownConnections: (settings) => new OwnServerConnections(mysqlDriver, open, settings),
    sharedConnections: (settings) => {
      checkCharset(options['charset']);
      return new SharedServerConnections(mysqlDriver, requirePool(pool), settings);
    },
  };
}

/** Takes from the application what leads to its database: address, credentials, TLS. */
export function ownMysqlOptions(options: MysqlOptions, connectTimeoutMs: number): MysqlOptions {
  const kept = Object.entries(options).filter(([key, value]) => value !== undefined && !EXCLUDED.has(key));
  return {
    ...Object.fromEntries(kept),
    connectTimeout: connectTimeoutMs,
    // Another character set would turn some characters of a name into question marks.
    charset: 'UTF8MB4_UNICODE_CI',
    supportBigNumbers: true,
    bigNumberStrings: true,
  };
}

/** @throws InvalidLockConfigurationError if different locks could be mixed up on the application's connections */
function checkCharset(charset: unknown = 'utf8mb4'): void {
  if (typeof charset === 'string' && /^utf8mb4/i.test(charset)) return;
  throw new InvalidLockConfigurationError(
    `connections: 'shared' needs the charset utf8mb4, because '${String(charset)}' of the application's connections can confuse names that are not ASCII. Leave connections at 'own', or change the charset.`,
  );
}
