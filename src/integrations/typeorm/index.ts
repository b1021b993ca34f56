/**
 * Creates a guard from a TypeORM DataSource: tables, locks, runs, and transactions that complete a run.
 *
 * @packageDocumentation
 */
import './peer';
import type { EntityManager } from 'typeorm';
import type { SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
import { typeormDriver, type TypeOrmSource } from '../../storage/typeorm/typeorm-driver';
import { driverEntry, type RunTransactions, type SqlEntry } from '../sql/entry';

export type { DatabaseAccessOptions } from '../../storage/sql/database/database-access';
export type { JobTableOptions, LockColumns, LockTableOptions } from '../../storage/sql/schema/table-options';
export type { RunTableOptions } from '../../storage/sql/schema/table-options';
export * from '../../storage/typeorm/entities';
export * from '../../storage/typeorm/migration';
export type { TypeOrmSource } from '../../storage/typeorm/typeorm-driver';
export type * from '../sql/driver-types';

const entry: SqlEntry<TypeOrmSource> & RunTransactions<EntityManager, EntityManager> =
  driverEntry(typeormDriver);

export const createJobGuard: SqlEntry<TypeOrmSource>['createJobGuard'] = entry.createJobGuard;
export const verifySchema: SqlEntry<TypeOrmSource>['verifySchema'] = entry.verifySchema;
export const inRunTransaction: RunTransactions<EntityManager, EntityManager>['inRunTransaction'] =
  entry.inRunTransaction;
export const completeRunIn: RunTransactions<EntityManager, EntityManager>['completeRunIn'] =
  entry.completeRunIn;

export type TypeOrmLockProviderOptions = SqlLockProviderOptions;

/** Keeps locks in a table of the database of a TypeORM DataSource. */
export class TypeOrmLockProvider extends entry.LockProvider {}

/**
 * Holds each lock by an open transaction of MySQL, MariaDB or PostgreSQL, in a table of its own. COMMIT frees the lock,
 * and so does the end of the connection: at once after a crash, within about 5 s after the loss of a host.
 */
export class RowLockProvider extends entry.RowLockProvider {}
