import type { DataSource } from 'typeorm';
import { type TypeOrmLockProviderOptions } from 'cronlatch/typeorm';
import { closing } from '../benches/closing';
import type { TestDatabase } from './fresh';
import { migratedDataSource } from './lock-table';
import { CheckedLockProvider } from '../stores/checked-lock-provider';

export interface ChangedTable {
  readonly dataSource: DataSource;
  readonly provider: CheckedLockProvider;
  /** The warnings of the provider. */
  readonly warnings: readonly string[];
}

/** An application and a provider that share one database, with the migration's table after some changes. */
export async function withChangedTable(
  database: TestDatabase,
  changes: readonly string[],
  options: TypeOrmLockProviderOptions,
  body: (table: ChangedTable) => Promise<void>,
): Promise<void> {
  await using dataSource = closing(await migratedDataSource(database));
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  await using provider = closing(new CheckedLockProvider(dataSource, { ...options, onWarning }));
  for (const change of changes) await dataSource.query(change);
  await body({ dataSource, provider, warnings });
}
