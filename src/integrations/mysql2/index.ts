/**
 * Creates a guard from mysql2: a pool, options or an address. It has the tables, locks, and transactions that complete a
 * run.
 *
 * @packageDocumentation
 */
import './peer';
import type { Connection as CallbackConnection } from 'mysql2';
import type { Connection, PoolConnection } from 'mysql2/promise';
import { mysqlDriver, type MysqlSource } from '../../storage/mysql2/mysql-driver';
import type { AdaptedTransaction } from '../sql/adapted-transaction';
import type { PoolGuardOptions } from '../sql/create-guard';
import { driverEntry, type RunTransactions, type SqlEntry } from '../sql/entry';

export type { MysqlSource } from '../../storage/mysql2/mysql-driver';
export type { SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
export type { SqlValue } from '../../storage/sql/statements/statement';
export type { AdaptedAnswer, AdaptedTransaction } from '../sql/adapted-transaction';
export type { PoolGuardOptions as MysqlGuardOptions } from '../sql/create-guard';
export type * from '../sql/driver-types';
export type { TablesOptions } from '../sql/tables';

export type MysqlEntry = SqlEntry<MysqlSource, PoolGuardOptions> &
  RunTransactions<Connection | CallbackConnection | AdaptedTransaction, PoolConnection>;
const entry: MysqlEntry = driverEntry(mysqlDriver);

export const createJobGuard: MysqlEntry['createJobGuard'] = entry.createJobGuard;
export const createTables: MysqlEntry['createTables'] = entry.createTables;
export const verifySchema: MysqlEntry['verifySchema'] = entry.verifySchema;
export const inRunTransaction: MysqlEntry['inRunTransaction'] = entry.inRunTransaction;
export const completeRunIn: MysqlEntry['completeRunIn'] = entry.completeRunIn;

/** Keeps locks in a table of MySQL or MariaDB, for a lock manager, a guard or a provider of your own. */
export class Mysql2LockProvider extends entry.LockProvider {}

/**
 * Holds each lock by an open transaction of MySQL or MariaDB, in a table of its own. COMMIT frees the lock, and so does
 * the end of the connection: at once after a crash, within about 5 s after the loss of a host.
 */
export class RowLockProvider extends entry.RowLockProvider {}
