import assert from 'node:assert/strict';
import type { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Run } from 'cronlatch/provider';
import { scheduleDistributed } from 'cronlatch/node-cron';
import { setLogger, type ScheduledTask } from 'node-cron';
import { signal } from '../../../support/benches/executor';
import { nextEvent } from '../../../support/benches/guard';
import { ledgerPlace, memoryStores, type Instance } from '../../../support/stores/ledger-place';

const FILE = join(__dirname, 'fixtures/forked-task.js');
const silent = (): void => {};
setLogger({ info: silent, debug: silent, warn: silent, error: silent });

/** A task in its own process, with a tick each second, on a machine that may be busy. */
async function forked(
  instance: Instance,
  does: 'returns' | 'throws' | 'dies' | 'waits' | 'computes' | 'lacks',
): Promise<ScheduledTask> {
  process.env['FORKED_TASK'] = does;
  const task = scheduleDistributed('* * * * * *', pathToFileURL(FILE), {
    guard: instance.guard,
    name: 'settle',
    startTimeout: 60_000,
    noOverlap: true,
    missedExecutionTolerance: 30_000,
  });
  delete process.env['FORKED_TASK'];
  await task.start();
  return task;
}

async function withInstances(
  count: number,
  body: (instances: readonly Instance[]) => Promise<void>,
): Promise<void> {
  const { place, close } = ledgerPlace(memoryStores('2026-11-20T03:00:00Z'));
  const instances = Array.from({ length: count }, () => place.instance());
  try {
    await body(instances);
  } finally {
    for (const { guard } of instances) await guard.close();
    await close();
  }
}

function testAlone(name: string, body: (here: Instance) => Promise<void>): void {
  void test(name, () => withInstances(1, async ([here]) => (assert.ok(here), await body(here))));
}

/** The row of the tick that an event reports. */
function rowOf(
  { guard }: Instance,
  run: { readonly periodKey: string } | undefined,
): Promise<Run | undefined> {
  return guard.ledger.get({ job: 'settle', periodKey: run?.periodKey ?? '' });
}

async function runsOf({ guard }: Instance): Promise<readonly Run[]> {
  return await guard.ledger.list({ job: 'settle' });
}

// Each waits for a process to start, and for real ticks.
void describe('a task in a process of its own', { concurrency: true }, () => {
  // The guard restarts a process with a timer that keeps no program alive. Without this one the tests could end early.
  let alive: NodeJS.Timeout;
  before(() => void (alive = setInterval(silent, 60_000)));
  after(() => clearInterval(alive));

  testAlone('is elected through its parent, and its result is stored', async (here) => {
    const completed = nextEvent(here.guard, 'run:completed');
    await forked(here, 'returns');
    const { run } = await completed;
    const row = await rowOf(here, run);
    assert.equal(row?.state, 'completed');
    const { pid } = JSON.parse(row.result ?? '{}') as { pid?: number };
    assert.ok(pid !== undefined && pid !== process.pid);
  });

  testAlone('fails with its own error', async (here) => {
    const failed = nextEvent(here.guard, 'run:failed');
    await forked(here, 'throws');
    const { error, run } = await failed;
    assert.match(String(error), /no bank/);
    // Its next tick may have started meanwhile.
    const row = await rowOf(here, run);
    assert.match(row?.error ?? '', /no bank/);
  });

  testAlone('fails in the row of its tick if its process dies', async (here) => {
    const failed = nextEvent(here.guard, 'run:failed');
    await forked(here, 'dies');
    const { error, run } = await failed;
    assert.match(String(error), /exited unexpectedly \(code 3/);
    assert.equal((await rowOf(here, run))?.state, 'failed');
  });

  testAlone('is restarted after its process has died, and has its next ticks', async (here) => {
    const failed = nextEvent(here.guard, 'run:failed');
    const warned = nextEvent(here.guard, 'guard:warning');
    const completed = nextEvent(here.guard, 'run:completed');
    await forked(here, 'dies'); // Only the first process dies.
    await failed;
    assert.match(
      (await warned).message,
      /The process of task 'settle' has ended: .*code 3.* cronlatch starts it again in 1 s/,
    );
    await completed;
  });

  testAlone('causes a warning if it cannot be loaded, and is retried', async (here) => {
    const warned = nextEvent(here.guard, 'guard:warning');
    const refused = assert.rejects(forked(here, 'lacks'), /no settings/);
    assert.match(
      (await warned).message,
      /The process of task 'settle' could not be started: .*no settings.* cronlatch starts it again in 60 s/,
    );
    await refused;
  });

  void test('runs on one of two instances at each tick, and the other reports why not', async () => {
    await withInstances(2, async (instances) => {
      const skips: (string | undefined)[] = [];
      const [a, b] = instances;
      assert.ok(a && b);
      for (const each of instances) {
        const task = await forked(each, 'returns');
        task.on('execution:skipped', ({ reason }) => void skips.push(reason));
      }
      const both = [...instances].map(({ guard }) => nextEvent(guard, 'run:skipped'));
      await Promise.race(both);
      await Promise.race(instances.map(({ guard }) => nextEvent(guard, 'run:completed')));
      for (const { guard } of instances) await guard.close();
      const completed = [a, b].flatMap((each) => each.of('run:completed').map(({ run }) => run?.periodKey));
      assert.equal(new Set(completed).size, completed.length);
      assert.equal((await runsOf(a)).length, completed.length);
      assert.deepEqual(new Set(skips), new Set(['not-elected']));
    });
  });

  testAlone('does not run if it is stopped while it is elected, and its row records that', async (here) => {
    const { store } = here;
    const insert = store.insert.bind(store);
    const asked = signal();
    const stopped = signal();
    store.insert = async (...request) => {
      asked.resolve();
      await stopped.promise;
      return await insert(...request);
    };
    const task = await forked(here, 'returns');
    await asked.promise;
    await task.stop();
    const warned = nextEvent(here.guard, 'guard:warning');
    stopped.resolve();
    assert.match((await warned).message, /recorded as failed \(stopped\)/);
    assert.deepEqual(here.of('run:started'), []);
  });

  testAlone('is waited for when the guard closes, with its outcome', async (here) => {
    const started = nextEvent(here.guard, 'run:started');
    await forked(here, 'waits');
    const { run } = await started;
    const { settled, abandoned } = await here.guard.close();
    assert.deepEqual(abandoned, []);
    assert.ok(settled.includes(`settle:${run?.periodKey}`));
    const states = (await runsOf(here)).map(({ state }) => state);
    assert.ok(
      states.every((state) => state !== 'running'),
      states.join(),
    );
    assert.equal((await rowOf(here, run))?.state, 'completed');
  });

  testAlone(
    'is destroyed after the last message of its process, on which node-cron would throw',
    async (here) => {
      const started = nextEvent(here.guard, 'run:started');
      const task = await forked(here, 'returns');
      await started;
      const { forkProcess } = task as unknown as { readonly forkProcess: EventEmitter };
      const late = { event: 'execution:finished', context: { date: new Date(), task: { state: 'stopped' } } };
      let states: string[] = [];
      task.on('task:stopped', () => {
        setImmediate(() => {
          states = [task.getStatus()];
          forkProcess.emit('message', late);
        });
      });
      await here.guard.close();
      assert.deepEqual([...states, task.getStatus()], ['stopped', 'destroyed']);
    },
  );

  testAlone('is also awaited while it computes, and cannot answer', async (here) => {
    const started = nextEvent(here.guard, 'run:started');
    await forked(here, 'computes');
    const { run } = await started;
    const { settled } = await here.guard.close();
    assert.deepEqual(settled, [`settle:${run?.periodKey}`]);
    assert.equal((await rowOf(here, run))?.state, 'completed');
  });
});
