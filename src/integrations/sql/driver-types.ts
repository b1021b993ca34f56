/** The types that the subpath of each driver with asynchronous transactions exports, and that of TypeORM. */
export type { IsolationLevel } from '../../storage/sql/connections/server-driver';
export type { RowLockProviderOptions } from '../../storage/sql/row-lock/row-lock-provider';
export type { SchemaFinding, SchemaFindingCode } from '../../storage/sql/schema/schema-finding';
export type { RowLockTableOptions } from '../../storage/sql/schema/table-options';
export type { CompleteRunOptions } from './completion';
export type { CreateJobGuardOptions } from './create-guard';
export type { RunTransactions, SqlEntry } from './entry';
export type { RunTransactionOptions } from './run-transaction';
