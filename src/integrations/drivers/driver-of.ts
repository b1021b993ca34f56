/* eslint-disable @typescript-eslint/no-require-imports -- only the driver of the source is loaded */
/**
 * Finds the driver of a source, for callers that work with each of them. An application without TypeORM imports the
 * entry point of its driver instead.
 */
import type * as sqlite from '../../storage/better-sqlite3/sqlite-driver';
import type * as mysql from '../../storage/mysql2/mysql-driver';
import type * as postgres from '../../storage/pg/postgres-driver';
import type { ReadSource } from '../../storage/sql/database/driver';

/**
 * The address of a database, or what your application has opened: a pool of mysql2 or pg, or a database of better-sqlite3.
 * Described by their shapes, so that you need the types of your own driver only.
 */
export type DatabaseSource =
  | string
  | { getConnection(...args: never[]): unknown }
  | { readonly totalCount: number; readonly options: object }
  | { readonly inTransaction: boolean; prepare(text: string): unknown };

interface KnownDriver {
  readonly protocols: readonly string[];
  /** Only what its applications open has such a property. */
  readonly property: 'getConnection' | 'totalCount' | 'inTransaction';
  /** @throws CronlatchError naming the package to install if it is missing */
  readonly load: () => ReadSource<never, unknown>;
}

const DRIVERS: readonly KnownDriver[] = [
  {
    protocols: ['mysql://', 'mariadb://'],
    property: 'getConnection',
    load() {
      require('../mysql2/peer');
      return (require('../../storage/mysql2/mysql-driver') as typeof mysql).mysqlDriver.read;
    },
  },
  {
    protocols: ['postgres://', 'postgresql://'],
    property: 'totalCount',
    load() {
      require('../pg/peer');
      return (require('../../storage/pg/postgres-driver') as typeof postgres).postgresDriver.read;
    },
  },
  {
    protocols: ['sqlite:'],
    property: 'inTransaction',
    load() {
      require('../better-sqlite3/peer');
      return (require('../../storage/better-sqlite3/sqlite-driver') as typeof sqlite).readSqlite;
    },
  },
];

export const PROTOCOLS: readonly string[] = DRIVERS.flatMap(({ protocols }) => protocols);

/**
 * @returns what describes the database of the source; `undefined` if no driver knows it
 * @throws CronlatchError naming the package to install if the driver is missing
 */
export function driverOf(source: unknown): ReadSource<unknown, unknown> | undefined {
  const isOf = ({ protocols, property }: KnownDriver): boolean =>
    typeof source === 'string'
      ? protocols.some((protocol) => source.toLowerCase().startsWith(protocol))
      : typeof source === 'object' && source !== null && property in source;
  return DRIVERS.find(isOf)?.load() as ReadSource<unknown, unknown> | undefined;
}
