import type { DataSource } from 'typeorm';
import { testOnEvery, type TestDatabase } from '../databases/fresh';
import { ledgerDataSource } from '../databases/run-tables';
import { closing } from './closing';
import { TypeOrmRunStore, type TypeOrmRunStoreOptions } from '../stores/typeorm-run-store';

export interface RunBench {
  readonly database: TestDatabase;
  /** Connected. */
  readonly application: DataSource;
  readonly store: TypeOrmRunStore;
  /** The warnings of the store. */
  readonly warnings: readonly string[];
}

/** A store on a database with the ledger's tables, after some changes to them. */
export async function withRunStore(
  database: TestDatabase,
  { changes = [], ...options }: TypeOrmRunStoreOptions & { readonly changes?: readonly string[] },
  body: (bench: RunBench) => Promise<void>,
): Promise<void> {
  await using application = closing(await ledgerDataSource(database));
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  await using store = closing(new TypeOrmRunStore(application, { ...options, onWarning }));
  for (const change of changes) await application.query(change);
  await body({ database, application, store, warnings });
}

/** One test for each kind of database. */
export function testRunStores(name: string, body: (bench: RunBench) => Promise<void>): void {
  testOnEvery(name, (database) => withRunStore(database, {}, body));
}
