import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import Database from 'better-sqlite3';
import { createJobGuard } from 'cronlatch/typeorm';
import { testWith, type TestDatabase } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { startScript, type ChildScript } from '../../support/processes/child-script';

const INSTANCE = join(__dirname, 'fixtures/distributed-instance.js');
const TASKS = 10;
const TICKS = 300;
const name =
  'three processes run each tick at most once although one is killed and one is stopped, and what they claimed and did not finish has failed (S-23)';

// They wait for real ticks of ten tasks, each once a second.
void describe('distributed tasks', { concurrency: true }, () => {
  for (const kind of ['mysql', 'sqlite'] as const)
    testWith(kind, name, async (database) => {
      const dataSource = await ledgerDataSource(database);
      const guard = await createJobGuard(dataSource, { logger: false });
      const start = (): ChildScript => startScript(INSTANCE, JSON.stringify(database.options), String(TASKS));
      const [killed, stopped, calm] = [start(), start(), start()];
      const instances = [killed, stopped, calm];
      try {
        await Promise.all(instances.map((instance) => instance.line('ready')));
        await nextTick(killed);
        killed.kill('SIGKILL');
        await nextTick(stopped);
        await stopBetweenWrites(stopped, database);
        // Longer than its lease lasts.
        await calm.line('tick', ticksOf(calm) + 4 * TASKS);
        stopped.kill('SIGCONT');
        while (instances.reduce((sum, each) => sum + ticksOf(each), 0) < TICKS) await nextTick(calm);
        for (const instance of [stopped, calm]) instance.kill('SIGTERM');
        for (const { ended } of [stopped, calm]) assert.deepEqual(await ended, { code: 0, signal: null });

        const said = (verb: string): string[] =>
          instances.flatMap(({ lines }) =>
            lines.filter((line) => line.startsWith(`${verb} `)).map((line) => line.slice(verb.length + 1)),
          );
        const [began, ended] = [said('began'), said('ended')];
        assert.equal(new Set(began).size, began.length);
        const runs = await guard.ledger.list({ limit: 10_000 });
        const tickOf = (run: (typeof runs)[0]): string => `${run.job} ${run.periodKey}`;
        assert.deepEqual(
          began.filter((tick) => !runs.some((run) => tickOf(run) === tick)),
          [],
        );
        // One that was claimed when its process closed, and did not begin, is given back.
        const unfinished = runs.filter((run) => !ended.includes(tickOf(run)) && run.state !== 'pending');
        assert.ok(runs.every((run) => run.state !== 'pending' || !began.includes(tickOf(run))));
        assert.ok(unfinished.length > 0);
        assert.deepEqual(new Set(unfinished.map(stateOf)), new Set(['failed lease-ended']));
        const finished = runs.filter((run) => ended.includes(tickOf(run)));
        // One that the stopped process finished after its lease no longer counts.
        assert.ok(finished.filter((run) => stateOf(run) === 'completed').length > TICKS - 3 * TASKS);
        assert.ok(finished.every((run) => ['completed', 'failed lease-ended'].includes(stateOf(run))));
      } finally {
        for (const instance of instances) instance.kill('SIGKILL');
        await guard.close();
        await dataSource.destroy();
      }
    });
});

/** A process that is stopped while it writes to a SQLite file would keep all others from writing. */
async function stopBetweenWrites(instance: ChildScript, { options }: TestDatabase): Promise<void> {
  if (options.type !== 'better-sqlite3') return await instance.stop();
  const file = new Database(options.database, { timeout: 30_000 });
  file.exec('BEGIN IMMEDIATE');
  await instance.stop();
  file.exec('ROLLBACK');
  file.close();
}

function stateOf({ state, reason }: { readonly state: string; readonly reason: string | undefined }): string {
  return [state, reason].filter(Boolean).join(' ');
}

function ticksOf({ lines }: ChildScript): number {
  return lines.filter((line) => line === 'tick').length;
}

async function nextTick(instance: ChildScript): Promise<void> {
  await instance.line('tick', ticksOf(instance) + 1);
}
