import {
  createConnection,
  createPool,
  type Connection as CallbackConnection,
  type Pool,
  type PoolOptions,
} from 'mysql2';
import type { Connection, Pool as PromisePool, PoolConnection } from 'mysql2/promise';
import { InvalidLockConfigurationError, InvalidLockUseError } from '../../core';
import {
  checkAddress,
  checkTls,
  checkTransactionConnections,
  isPlainObject,
  unusableSource,
  type Driver,
  type DriverOptions,
} from '../sql/database/driver';
import { parseUrl } from '../sql/connections/sql-database';
import { pooledTransaction, serverTransaction } from '../sql/connections/transaction';
import {
  isMysqlError,
  mysqlDatabase,
  mysqlServer,
  mysqlSessionOf,
  type MysqlConnection,
} from './mysql-server';

/** An address such as `mysql://user:password@host:3306/database`, options of mysql2, or a pool of the application. */
export type MysqlSource = string | PoolOptions | Pool | PromisePool;

const FORM = { subpath: 'cronlatch/mysql2', example: 'mysql://user:password@host/database' };

interface CorePool extends Pool {
  readonly config: Pool['config'] & { readonly connectionConfig: DriverOptions & { password?: string } };
  readonly _closed?: boolean;
  readonly _connectionQueue: { readonly length: number };
  readonly _freeConnections: { readonly length: number };
}

export const mysqlDriver: Driver<MysqlSource, Connection | CallbackConnection, PoolConnection> = {
  subpath: FORM.subpath,
  isClientError: isMysqlError,

  read(source, { transactionConnections = 5, password: current } = {}) {
    checkTransactionConnections(transactionConnections);
    const given = corePoolOf(source);
    const { options, secrets, label } = given
      ? { options: given.config.connectionConfig, secrets: [], label: undefined }
      : optionsOf(source as string | PoolOptions);
    const { host, port, socketPath, database, user, password } = options as Partial<Record<string, string>>;
    const place = { host, port, socketPath, database, user };
    if (!database)
      throw new InvalidLockConfigurationError(
        `The ${given ? 'pool' : 'address'} for cronlatch/mysql2 names no database. Add one, as in mysql://host/app, or the option database.`,
      );
    let opened: CorePool | undefined;
    const pool = (): CorePool =>
      given ?? (opened ??= createPool({ ...options, connectionLimit: transactionConnections }) as CorePool);
    const borrow = async () => {
      const { config, _freeConnections: free } = pool();
      if (current !== undefined && given === undefined && free.length === 0)
        config.connectionConfig.password = await current();
      const connection = await pool().promise().getConnection();
      const session = mysqlSessionOf(connection.connection as unknown as MysqlConnection);
      return { connection, session, release: () => connection.release() };
    };
    return {
      ...mysqlDatabase({
        mysql2: { createConnection: (own) => createConnection(own) },
        options,
        address: { ...place, label, secrets: [password, ...secrets], asked: current },
      }),
      subpath: mysqlDriver.subpath,
      lend: async (limits) => pooledTransaction(await borrow(), mysqlServer, limits),
      waiting: () => (given ?? opened)?._connectionQueue.length ?? 0,
      // Also if none was opened: a run that the guard no longer waits for must not open one afterwards.
      close: async () => {
        if (given === undefined) await pool().promise().end();
      },
    };
  },

  transactionOn(connection) {
    const core = coreConnectionOf(connection);
    if (core === undefined) return undefined;
    const session = mysqlSessionOf(core as unknown as MysqlConnection);
    return {
      dialect: 'mysql',
      hasCallbacks: core === connection,
      open: (limits) => serverTransaction(session, mysqlServer, limits),
    };
  },
};

function optionsOf(source: string | PoolOptions) {
  const { uri, ...options } = typeof source === 'string' ? { uri: source } : source;
  if (uri === undefined) return { options, secrets: [], label: undefined };
  if (uri === '') throw unknownSource(uri);
  checkAddress(uri, { ...FORM, protocols: ['mysql://', 'mariadb://'] });
  const { parameters, ...parts } = parseUrl(uri);
  const given = Object.fromEntries([...parameters].map(([key, value]) => [key, parsed(value)]));
  // As in mysql2, an option that is undefined does not replace a part of the address.
  const set = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const all = { ...given, ...parts, ...set } as DriverOptions;
  checkTls(parameters, all['ssl']);
  return {
    options: all,
    secrets: [uri, new URL(uri).password],
    label: /^mariadb/i.test(uri) ? 'MariaDB' : undefined,
  };
}

/** mysql2 reads the parameters of an address as JSON, or else as texts. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function corePoolOf(source: unknown): CorePool | undefined {
  if (typeof source === 'string') return undefined;
  if (typeof source !== 'object' || source === null) throw unknownSource(source);
  const core = ('pool' in source ? source.pool : source) as Partial<CorePool>;
  if (core._closed)
    throw new InvalidLockUseError('The pool for cronlatch/mysql2 is closed. Pass an open one.');
  if (core.config?.connectionConfig !== undefined) return core as CorePool;
  if (isPlainObject(source)) return undefined;
  throw unknownSource(source);
}

function unknownSource(source: unknown): InvalidLockConfigurationError {
  return unusableSource(source, FORM, 'a pool of mysql2 or its options');
}

function coreConnectionOf(connection: unknown): CallbackConnection | undefined {
  const isObject = typeof connection === 'object' && connection !== null;
  const core = isObject && 'connection' in connection ? connection.connection : connection;
  const { config, execute } = (core ?? {}) as Partial<CallbackConnection>;
  const isPool = config !== undefined && 'connectionConfig' in config;
  return typeof execute === 'function' && config !== undefined && !isPool
    ? (core as CallbackConnection)
    : undefined;
}
