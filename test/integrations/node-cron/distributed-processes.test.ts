import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJobGuard } from 'cronlatch/typeorm';
import { testWith } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { startScript, type ChildScript } from '../../support/processes/child-script';

const INSTANCE = join(__dirname, 'fixtures/distributed-instance.js');
const TICKS = 5;

// They wait for real ticks, once a second. Other tests check the election of one instance on each kind of
// server.
void describe('distributed tasks', { concurrency: true }, () => {
  const name = 'one of two processes runs each tick, and its row is completed';
  for (const kind of ['mysql', 'sqlite'] as const)
    testWith(kind, name, async (database) => {
      const dataSource = await ledgerDataSource(database);
      const guard = await createJobGuard(dataSource, { logger: false });
      const instances = Array.from({ length: 2 }, () =>
        startScript(INSTANCE, JSON.stringify(database.options)),
      );
      const ran = (): string[] => instances.flatMap(({ lines }) => lines.filter((line) => line !== 'ready'));
      try {
        await Promise.all(instances.map((instance) => instance.line('ready')));
        const before = ran().length;
        const givenUpAtMs = performance.now() + 60_000;
        while (ran().length < before + TICKS && performance.now() < givenUpAtMs) await sleep(50);
        for (const instance of instances) instance.kill('SIGTERM');
        for (const { ended } of instances) assert.deepEqual(await ended, { code: 0, signal: null });
        const rows = await guard.ledger.list({ job: 'settle', limit: 1000 });
        assert.ok(rows.length >= TICKS, `${rows.length} ticks`);
        const expected = rows.map(({ periodKey }) => `ran ${periodKey}`);
        assert.deepEqual(ran().sort(), expected.sort());
        assert.deepEqual(new Set(rows.map(({ state }) => state)), new Set(['completed']));
      } finally {
        for (const instance of instances) instance.kill('SIGKILL');
        await guard.close();
        await dataSource.destroy();
      }
    });

  testWith(
    'sqlite',
    'a killed process loses its tick, which is recorded, and others run the next',
    async (database) => {
      const dataSource = await ledgerDataSource(database);
      const guard = await createJobGuard(dataSource, { logger: false });
      const options = JSON.stringify(database.options);
      const first = startScript(INSTANCE, options, 'hangs');
      const started = [first];
      try {
        const [lost = ''] = await ticksOf(first);
        first.kill('SIGKILL');
        await first.ended;
        const second = startScript(INSTANCE, options);
        started.push(second);
        const ran = await ticksOf(second);
        second.kill('SIGTERM');
        await second.ended;
        assert.ok(!ran.includes(lost));
        const run = await guard.ledger.get({ job: 'settle', periodKey: lost });
        assert.equal(run?.state, 'running');
        const completed = await guard.ledger.list({ job: 'settle', states: ['completed'] });
        assert.ok(completed.length >= 1);
      } finally {
        for (const instance of started) instance.kill('SIGKILL');
        await guard.close();
        await dataSource.destroy();
      }
    },
  );
});

/** Its ticks, after its first run. */
async function ticksOf({ lines }: ChildScript): Promise<string[]> {
  const ran = (): string[] => lines.flatMap((line) => /^ran (.*)/.exec(line)?.[1] ?? []);
  const givenUpAtMs = performance.now() + 60_000;
  while (ran().length === 0 && performance.now() < givenUpAtMs) await sleep(50);
  return ran();
}
