export type { LockColumns, LockTableOptions } from '../sql/lock-table';
export type { LockRow } from './lock-entity';
export { createLockEntity } from './lock-entity';
export type { MigrationOptions } from './migration';
export { createCronlatchMigration } from './migration';
export type { TypeOrmLockProviderOptions } from './typeorm-lock-provider';
export { TypeOrmLockProvider } from './typeorm-lock-provider';
