import { Client, Pool, type ClientBase, type ClientConfig, type PoolClient, type PoolConfig } from 'pg';
import { InvalidLockConfigurationError, InvalidLockUseError } from '../../core';
import {
  checkAddress,
  checkTransactionConnections,
  isPlainObject,
  unusableSource,
  type Driver,
  type DriverOptions,
} from '../sql/database/driver';
import { pooledTransaction, serverTransaction } from '../sql/connections/transaction';
import {
  isPostgresError,
  postgresDatabase,
  postgresServer,
  postgresSessionOf,
  type PostgresClient,
  type PostgresSettings,
} from './postgres-server';

/** An address such as `postgres://user:password@host:5432/database`, options of pg, or a pool of the application. */
export type PostgresSource = string | PoolConfig | Pool;

const FORM = { subpath: 'cronlatch/pg', example: 'postgres://user:password@host/database' };

export const postgresDriver: Driver<PostgresSource, ClientBase, PoolClient> = {
  subpath: FORM.subpath,
  isClientError: isPostgresError,

  read(source, { transactionConnections = 5, password } = {}) {
    checkTransactionConnections(transactionConnections);
    const given = poolOf(source);
    const options = given ? given.options : optionsOf(source as string | PoolConfig);
    let opened: Pool | undefined;
    const open = (): Pool => {
      const ofOption = password && { password: async () => await password() };
      const own = new Pool({ Client: LimitedClient, ...options, ...ofOption, max: transactionConnections });
      own.on('error', () => {}); // An idle connection that ends would end the process. The next use opens another.
      return own;
    };
    const pool = (): Pool => given ?? (opened ??= open());
    const borrow = async () => {
      const connection = await pool().connect();
      // The pool listens only while a client is idle, and an error without a listener would end the process.
      const onError = (): void => {};
      connection.on('error', onError);
      const release = (): void => {
        connection.release();
        connection.off('error', onError);
      };
      return { connection, session: postgresSessionOf(connection), release };
    };
    return {
      ...postgresDatabase({
        Client: (given?.Client ?? Client) as PostgresSettings['Client'],
        options: options as DriverOptions,
        password,
      }),
      subpath: postgresDriver.subpath,
      lend: async (limits) => pooledTransaction(await borrow(), postgresServer, limits),
      waiting: () => (given ?? opened)?.waitingCount ?? 0,
      // Also if none was opened: a run that the guard no longer waits for must not open one afterwards.
      close: async () => {
        if (given === undefined) await pool().end();
      },
    };
  },

  transactionOn(client) {
    if (!isClient(client)) return undefined;
    const session = postgresSessionOf(client as unknown as PostgresClient);
    return {
      dialect: 'postgres',
      hasCallbacks: true,
      open: (limits) => serverTransaction(session, postgresServer, limits),
    };
  },
};

/** As an option of the pool, it would also limit the wait for a connection that another job uses. mysql2 has this default. */
class LimitedClient extends Client {
  constructor(config?: ClientConfig) {
    super({ ...config, password: config?.password, connectionTimeoutMillis: 10_000 });
    // pg prefers the password of an address to the option, even if the address has none.
    if (typeof config?.password === 'function') Object.assign(this, { password: config.password });
  }
}

interface ReadablePool extends Pool {
  readonly options: Pool['options'];
  readonly Client?: unknown;
}

function optionsOf(source: string | PoolConfig): PoolConfig {
  const { connectionString, ...options } = typeof source === 'string' ? { connectionString: source } : source;
  if (connectionString === undefined) return options;
  // Without a host, as in postgres://user@/app?host=/run/postgresql, pg accepts it and URL does not.
  const parsable =
    typeof connectionString === 'string'
      ? connectionString.replace(/^([^@]*)@\/(?=[^@]*$)/, '$1@localhost/')
      : connectionString;
  if (parsable === '') throw unknownSource(parsable);
  checkAddress(parsable, { ...FORM, protocols: ['postgres://', 'postgresql://'] });
  // Beside an address, pg ignores the option database.
  if (new URL(parsable).pathname.length < 2)
    throw new InvalidLockConfigurationError(
      `The address for cronlatch/pg names no database. Add one, as in postgres://host/app.`,
    );
  return { connectionString, ...options };
}

function poolOf(source: unknown): ReadablePool | undefined {
  if (typeof source === 'string') return undefined;
  if (typeof source !== 'object' || source === null) throw unknownSource(source);
  if ('totalCount' in source && 'options' in source) {
    if ('ending' in source && source.ending)
      throw new InvalidLockUseError('The pool for cronlatch/pg is closed. Pass an open one.');
    return source as ReadablePool;
  }
  if (isPlainObject(source)) return undefined;
  throw unknownSource(source);
}

function unknownSource(source: unknown): InvalidLockConfigurationError {
  return unusableSource(source, FORM, 'a pool of pg or its options');
}

/** A pool has the same methods, and would send each statement on another connection. */
function isClient(client: unknown): boolean {
  if (typeof client !== 'object' || client === null) return false;
  return 'query' in client && 'database' in client && !('totalCount' in client);
}
