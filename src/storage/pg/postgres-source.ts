import { Client, Pool, type PoolClient, type PoolConfig } from 'pg';
import { InvalidLockConfigurationError, InvalidLockUseError } from '../../core';
import type { BorrowedSession } from '../sql/connections/server-driver';
import {
  checkAddress,
  checkTransactionConnections,
  describeSource,
  isPlainObject,
} from '../sql/database/application-source';
import type { SqlDatabase } from '../sql/database/sql-database';
import { postgresDatabase, type PostgresOptions, type PostgresSettings } from './postgres-database';
import { postgresSessionOf } from './postgres-driver';

/** An address such as `postgres://user:password@host:5432/database`, options of pg, or a pool of the application. */
export type PostgresSource = string | PoolConfig | Pool;

/** The database of an application that uses pg. */
export interface PostgresApplication {
  readonly database: SqlDatabase;
  readonly owner: object;
  /** Borrows a client from the application's pool, or from one that this opens for it. */
  readonly borrow: () => Promise<BorrowedSession & { readonly connection: PoolClient }>;
  /** Closes what this has opened. */
  readonly close: () => Promise<void>;
}

/** @throws InvalidLockConfigurationError naming what is wrong, without the address */
export function postgresApplication(
  source: PostgresSource,
  { transactionConnections }: { readonly transactionConnections: number },
): PostgresApplication {
  checkTransactionConnections(transactionConnections);
  const given = poolOf(source);
  const options = given ? given.options : optionsOf(source as string | PoolConfig);
  let opened: Pool | undefined;
  const open = (): Pool => {
    const pool = new Pool({ ...options, max: transactionConnections });
    pool.on('error', () => {}); // An idle connection that ends would end the process. The next use opens another.
    return pool;
  };
  const borrow: PostgresApplication['borrow'] = async () => {
    const connection = await (given ?? (opened ??= open())).connect();
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
    database: postgresDatabase({
      // The application can use the native client.
      Client: (given?.Client ?? Client) as PostgresSettings['Client'],
      options: options as PostgresOptions,
      pool: given && { size: given.options.max ?? 10, borrow },
    }),
    owner: given ?? options,
    borrow,
    close: async () => await opened?.end(),
  };
}

/** The parts of pg's pool that hold its settings. */
interface ReadablePool extends Pool {
  readonly options: Pool['options'];
  readonly Client?: unknown;
}

function optionsOf(source: string | PoolConfig): PoolConfig {
  const { connectionString, ...options } = typeof source === 'string' ? { connectionString: source } : source;
  if (connectionString === undefined) return options;
  checkAddress(connectionString, {
    subpath: 'cronlatch/pg',
    protocols: ['postgres://', 'postgresql://'],
    example: 'postgres://user:password@host/database',
  });
  if (new URL(connectionString).pathname.length < 2 && options.database === undefined)
    throw new InvalidLockConfigurationError(
      `The address for cronlatch/pg names no database. Add one, as in postgres://host/app, or the option database.`,
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
  return new InvalidLockConfigurationError(
    `cronlatch/pg cannot use ${describeSource(source)}. Pass a pool of pg, its options, or an address such as postgres://user:password@host/database.`,
  );
}
