import { DataSource } from 'typeorm';
import type { JobGuard } from 'cronlatch';
import {
  createJobGuard,
  TypeOrmLockProvider,
  type CreateJobGuardOptions,
  type TypeOrmLockProviderOptions,
} from 'cronlatch/typeorm';
import { testOnEvery, type DatabaseName, type TestDatabase } from '../databases/fresh';
import { ledgerDataSource } from '../databases/run-tables';
import { closing } from './closing';

/** A fresh database, and everything that a test opens there, which is closed at its end. */
export class DatabaseBench<Database extends TestDatabase = TestDatabase> {
  readonly #opened: { close(): Promise<unknown> }[] = [];

  constructor(
    readonly database: Database,
    /** Connected. */
    readonly application: DataSource,
  ) {}

  /** A DataSource like the application's, not connected. */
  dataSource(more: object = {}): DataSource {
    return new DataSource({ ...this.database.options, ...more });
  }

  /** As above, connected. */
  async connected(more: object = {}): Promise<DataSource> {
    const dataSource = await this.dataSource(more).initialize();
    this.closeAtEnd({ close: () => dataSource.destroy() });
    return dataSource;
  }

  provider(options: TypeOrmLockProviderOptions = {}, dataSource = this.dataSource()): TypeOrmLockProvider {
    return this.closeAtEnd(new TypeOrmLockProvider(dataSource, options));
  }

  /** A guard that logs nothing, and looks for overdue runs only when `runOverdue` is called. */
  async openGuard(options: CreateJobGuardOptions = {}, dataSource = this.application): Promise<JobGuard> {
    const quiet = { logger: false, pollInterval: false, ...options } as const;
    return this.closeAtEnd(await createJobGuard(dataSource, quiet));
  }

  closeAtEnd<T extends { close(): Promise<unknown> }>(opened: T): T {
    this.#opened.push(opened);
    return opened;
  }

  /** The library's own timers do not keep the process alive, and neither does a file or a server that is down. */
  keepProcessAlive(): void {
    const alive = setInterval(() => {}, 60_000);
    this.closeAtEnd({ close: () => Promise.resolve(clearInterval(alive)) });
  }

  async dispose(): Promise<void> {
    try {
      // The last first: a provider does not wait for a server that its proxy hides.
      for (const opened of this.#opened.reverse()) await opened.close();
    } finally {
      if (this.application.isInitialized) await this.application.destroy();
      await this.database.dispose();
    }
  }
}

/** One test for each kind of database, or for the given kinds, with all tables in it. */
export function testOnDatabases(
  name: string,
  body: (bench: DatabaseBench, kind: DatabaseName) => Promise<void>,
  on?: readonly DatabaseName[],
): void {
  const run = async (database: TestDatabase, _: unknown, kind: DatabaseName): Promise<void> => {
    // The test's own end disposes of the database.
    const shared = { ...database, dispose: () => Promise.resolve() };
    await using bench = closing(new DatabaseBench(shared, await ledgerDataSource(database)));
    await body(bench, kind);
  };
  testOnEvery(name, run, on);
}
