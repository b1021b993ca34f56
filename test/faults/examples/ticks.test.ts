import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { createJobGuard } from 'cronlatch/typeorm';
import { ledgerDataSource } from '../../support/databases/run-tables';
import {
  assertOnly,
  exampleStarter,
  promiseOf,
  testOnEveryDatabase,
  untilAny,
  type RunningExample,
  type Start,
} from '../../examples/running-example';

/** A blocked process drops ticks (croner does not report it), and a guard can close during an election. */
const ON_BUSY_MACHINE =
  /^(\[Cron\] Missed execution deadline|.*node-cron.*missed execution|cronlatch .*(node-cron dropped|\(closing\))).*\n/gim;

// They wait more than they work, but each is one or two processes.
void describe('examples with a schedule', { concurrency: 6 }, () => {
  for (const name of ['node-cron', 'croner', 'nestjs'])
    testOnEveryDatabase(name, 'of two instances, one runs each tick', async (start) => {
      await assertTicksAreShared(name, start);
    });

  void test('hello: of two processes, one runs each tick', async (t) => {
    await assertTicksAreShared('hello', exampleStarter('hello', t, { environment: {}, folder: folder(t) }));
  });

  testOnEveryDatabase(
    'node-cron-coordinator',
    'of two instances, one is elected for each tick, and the ledger keeps its outcome',
    async (start, database) => {
      const [started = '', run = '', completed = ''] = promiseOf('node-cron-coordinator');
      const [skipped = ''] = promiseOf('node-cron-coordinator', 1);
      const instances = await twoInstances(start);
      await untilAny(instances, (lines) => lines.includes(skipped), skipped);
      const ticks = await stopAndCountTicks(instances, [started, run, completed, skipped]);

      const dataSource = await ledgerDataSource(database);
      const guard = await createJobGuard(dataSource, { logger: false });
      const rows = await guard.ledger.list({ job: 'sync-stock' });
      await guard.close();
      await dataSource.destroy();
      const inSync = rows.filter(({ state, result }) => state === 'completed' && result === '"in sync"');
      assert.deepEqual(inSync.map(({ periodKey }) => periodKey).sort(), ticks.sort());
    },
  );
});

/** Two instances run four ticks, each of them once, and print only what the header promises. */
async function assertTicksAreShared(name: string, start: Start): Promise<void> {
  const instances = await twoInstances(start);
  await untilAny(instances, (lines) => lines.flatMap(tickIn).length >= 4, 'four ticks');
  await stopAndCountTicks(instances, promiseOf(name));
}

/** The second one starts when the tables exist. */
async function twoInstances(start: Start): Promise<RunningExample[]> {
  const first = start();
  await first.prints();
  return [first, start()];
}

async function stopAndCountTicks(
  instances: readonly RunningExample[],
  promised: readonly string[],
): Promise<string[]> {
  for (const instance of instances) assert.equal((await instance.stop()).replaceAll(ON_BUSY_MACHINE, ''), '');
  for (const { lines } of instances) assertOnly(lines, promised);
  const ticks = instances.flatMap(({ lines }) => lines.flatMap(tickIn));
  assert.equal(new Set(ticks).size, ticks.length, 'no tick is run twice');
  return ticks;
}

/** The scheduled time of a run that has ended. */
function tickIn(line: string): string[] {
  const [, tick] = /run:completed: .*scheduled at (\S+)\)/.exec(line) ?? [];
  return tick === undefined ? [] : [tick];
}

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'cronlatch-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}
