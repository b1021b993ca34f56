export type { RowLockProviderOptions } from '../sql/row-lock/row-lock-provider';
export type {
  JobTableOptions,
  LockColumns,
  LockTableOptions,
  RowLockTableOptions,
  RunTableOptions,
} from '../sql/schema/tables';
export type { SchemaFinding, SchemaFindingCode } from '../sql/schema/schema-finding';
export type { IsolationLevel } from '../sql/connections/server-driver';
export type { DatabaseAccessOptions } from '../sql/database/database-access';
export type { LockRow, RunEventRow, RunRow } from './entities';
export { createLedgerEntities, createLockEntity } from './entities';
export type { MigrationOptions } from './migration';
export { createCronlatchMigration } from './migration';
export { RowLockProvider } from './row-locks';
export type { TypeOrmLockProviderOptions, TypeOrmRunStoreOptions } from './stores';
export { TypeOrmLockProvider, TypeOrmRunStore } from './stores';
