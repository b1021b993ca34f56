/**
 * Creates a guard from pg: a pool, options or an address. It has the tables, locks, and transactions that complete a run.
 *
 * @packageDocumentation
 */
import './peer';
import type { ClientBase, PoolClient } from 'pg';
import { postgresDriver, type PostgresSource } from '../../storage/pg/postgres-driver';
import type { AdaptedTransaction } from '../sql/adapted-transaction';
import type { PoolGuardOptions } from '../sql/create-guard';
import { driverEntry, type RunTransactions, type SqlEntry } from '../sql/entry';

export type { PostgresSource } from '../../storage/pg/postgres-driver';
export type { SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
export type { SqlValue } from '../../storage/sql/statements/statement';
export type { AdaptedAnswer, AdaptedTransaction } from '../sql/adapted-transaction';
export type { PoolGuardOptions as PostgresGuardOptions } from '../sql/create-guard';
export type * from '../sql/driver-types';
export type { TablesOptions } from '../sql/tables';

export type PostgresEntry = SqlEntry<PostgresSource, PoolGuardOptions> &
  RunTransactions<ClientBase | AdaptedTransaction, PoolClient>;
const entry: PostgresEntry = driverEntry(postgresDriver);

export const createJobGuard: PostgresEntry['createJobGuard'] = entry.createJobGuard;
export const createTables: PostgresEntry['createTables'] = entry.createTables;
export const verifySchema: PostgresEntry['verifySchema'] = entry.verifySchema;
export const inRunTransaction: PostgresEntry['inRunTransaction'] = entry.inRunTransaction;
export const completeRunIn: PostgresEntry['completeRunIn'] = entry.completeRunIn;

/** Keeps locks in a table of PostgreSQL, for a lock manager, a guard or a provider of your own. */
export class PgLockProvider extends entry.LockProvider {}

/**
 * Holds each lock by an open transaction of PostgreSQL, in a table of its own. COMMIT frees the lock, and so does the end
 * of the connection: at once after a crash, within about 5 s after the loss of a host.
 */
export class RowLockProvider extends entry.RowLockProvider {}
