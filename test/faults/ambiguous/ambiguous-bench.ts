import type { TestContext } from 'node:test';
import { DataSource } from 'typeorm';
import type { JobGuard } from 'cronlatch';
import { createJobGuard, TypeOrmLockProvider, type CreateJobGuardOptions } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { createEffectTable } from '../../support/databases/effects';
import { databaseOn, SERVER_NAMES, testOn, type ServerName } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import type { ServerDatabase } from '../../support/databases/types';
import { protocolOf, sqlProxy, type SqlProxy } from '../../support/faults/sql-proxy/sql-proxy';
import { targetOf, throughProxy } from '../../support/faults/tcp-proxy';

/** One process of the application, with its own proxy to the database. */
export interface ProxiedProcess {
  readonly proxy: SqlProxy;
  readonly application: DataSource;
  readonly provider: TypeOrmLockProvider;
  readonly guard: JobGuard;
  /** The jobs whose completion was reported. */
  readonly completed: readonly string[];
}

interface ProcessOptions extends Pick<CreateJobGuardOptions, 'statementTimeout'> {
  /** The database behind its proxy. */
  readonly url?: string | undefined;
}

/**
 * A database with all tables, an operator's direct connection to it, and processes that reach it only through
 * their proxies.
 */
export class AmbiguousBench {
  readonly #closers: (() => Promise<unknown>)[] = [];

  private constructor(
    readonly server: ServerName,
    readonly database: ServerDatabase<unknown>,
    /** A direct connection. */
    readonly operator: DataSource,
  ) {}

  static async on(server: ServerName): Promise<AmbiguousBench> {
    const database = await databaseOn(server);
    const operator = await ledgerDataSource(database);
    await createEffectTable(operator);
    return new AmbiguousBench(server, database, operator);
  }

  async process({
    statementTimeout = '2s',
    url = this.database.url,
  }: ProcessOptions = {}): Promise<ProxiedProcess> {
    const { options } = this.database;
    const proxy = await sqlProxy(targetOf(url), protocolOf(this.server));
    this.#closers.push(() => proxy.close());
    const through = { ...options, url: throughProxy(url, proxy) } as typeof options;
    const application = await new DataSource(through).initialize();
    this.#closers.push(() => application.destroy());
    const provider = new TypeOrmLockProvider(application, { statementTimeout });
    this.#closers.push(() => provider.close());
    const guard = await createJobGuard(application, { statementTimeout, pollInterval: false, logger: false });
    this.#closers.push(() => guard.close({ timeout: 0 }));
    const completed: string[] = [];
    guard.on('run:completed', ({ run }) => {
      if (run !== undefined) completed.push(run.job);
    });
    return { proxy, application, provider, guard, completed };
  }

  async dispose(): Promise<void> {
    try {
      for (const close of this.#closers.reverse()) await close();
    } finally {
      await this.operator.destroy();
      await this.database.dispose();
    }
  }
}

/** One test for each server. */
export function testAmbiguous(
  name: string,
  body: (bench: AmbiguousBench, t: TestContext) => Promise<void>,
): void {
  for (const server of SERVER_NAMES) {
    testOn(server, name, async (t) => {
      await using bench = closing(await AmbiguousBench.on(server));
      await body(bench, t);
    });
  }
}
