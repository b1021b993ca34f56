import type { TestContext } from 'node:test';
import type { JobGuard } from 'cronlatch';
import type { CreateJobGuardOptions, TypeOrmLockProvider } from 'cronlatch/typeorm';
import { testOnServers, type ServerBench } from '../../support/benches/server';
import { createEffectTable } from '../../support/databases/effects';
import { createRunTables } from '../../support/databases/run-tables';
import { protocolOf, sqlProxy, type SqlProxy } from '../../support/faults/sql-proxy/sql-proxy';
import { targetOf, throughProxy } from '../../support/faults/tcp-proxy';

/** One process of the application, with its own proxy to the database. */
export interface ProxiedProcess {
  readonly proxy: SqlProxy;
  readonly provider: TypeOrmLockProvider;
  readonly guard: JobGuard;
  /** The jobs whose completion was reported. */
  readonly completed: readonly string[];
}

interface ProcessOptions extends Pick<CreateJobGuardOptions, 'statementTimeout'> {
  /** The database behind its proxy. */
  readonly url?: string | undefined;
}

export async function proxiedProcess(
  bench: ServerBench,
  { statementTimeout = '2s', url = bench.database.url }: ProcessOptions = {},
): Promise<ProxiedProcess> {
  const proxy = bench.closeAtEnd(await sqlProxy(targetOf(url), protocolOf(bench.server)));
  const application = await bench.connected({ url: throughProxy(url, proxy) });
  const provider = bench.provider({ statementTimeout }, application);
  const guard = await bench.openGuard({ statementTimeout }, application);
  const completed: string[] = [];
  guard.on('run:completed', ({ run }) => {
    if (run !== undefined) completed.push(run.job);
  });
  return { proxy, provider, guard, completed };
}

/** One test for each server, with all tables. */
export function testAmbiguous(
  name: string,
  body: (bench: ServerBench, t: TestContext) => Promise<void>,
): void {
  testOnServers(name, async (bench, t) => {
    await createRunTables(bench.application);
    await createEffectTable(bench.application);
    await body(bench, t);
  });
}
