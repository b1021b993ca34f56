/**
 * Creates a guard from pg: a pool, options or an address. It has the tables, and transactions that complete a run.
 *
 * @packageDocumentation
 */
import './peer';
export type { PostgresSource } from '../../storage/pg/postgres-source';
export type { RowLockProviderOptions } from '../../storage/sql/row-lock/row-lock-provider';
export type { RowLockTableOptions } from '../../storage/sql/schema/tables';
export { RowLockProvider } from '../../storage/pg/postgres-row-locks';
export type { IsolationLevel } from '../../storage/sql/connections/server-driver';
export type { SchemaFinding, SchemaFindingCode } from '../../storage/sql/schema/schema-finding';
export type { CreateJobGuardOptions } from '../sql/create-guard';
export type { RunTransactionOptions } from '../sql/run-transaction';
export type { TablesOptions } from '../sql/tables';
export type { PostgresGuardOptions } from './guard';
export { createJobGuard, createTables, verifySchema } from './guard';
export { completeRunIn, inRunTransaction } from './transactions';
