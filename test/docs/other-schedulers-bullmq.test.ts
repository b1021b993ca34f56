import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Queue, Worker, type RedisOptions } from 'bullmq';
import type { CronlatchEvents, JobGuard } from 'cronlatch';
import { runningServer } from '../support/servers/running';
import { testOn } from '../support/servers/test-on';
import { ledgerPlace, memoryStores, type LedgerPlace } from '../support/stores/ledger-place';
import { scheduleWithBullMQ } from './other-schedulers/bullmq';
import type { Job } from './other-schedulers/job';

interface Bench {
  readonly connection: RedisOptions;
  readonly queue: Queue;
  readonly name: string;
  readonly place: LedgerPlace;
  /** Closed at the end, even if the test fails. */
  readonly closing: (worker: Worker) => Worker;
}

let queues = 0;

/** A queue of its own, and locks and runs that guards share. */
function testQueue(title: string, body: (bench: Bench) => Promise<void>): void {
  testOn('redis', title, async () => {
    const connection = { url: runningServer('redis')?.url ?? '' };
    const name = `close-day-${process.pid}-${(queues += 1)}`;
    const queue = new Queue(name, { connection });
    const workers: Worker[] = [];
    const { place, close } = ledgerPlace(memoryStores(new Date().toISOString()));
    try {
      await body({
        ...{ connection, queue, name, place },
        closing: (worker) => (workers.push(worker), worker),
      });
    } finally {
      await Promise.all(workers.map((worker) => worker.close(true)));
      await close();
      await queue.obliterate({ force: true });
      await queue.close();
    }
  });
}

const every = (name: string, expression: string, run: () => Promise<void>): Job => ({
  expression,
  timeZone: 'Europe/Paris',
  guarded: {
    name,
    lockAtMostFor: '1m',
    oncePer: { period: (at) => at.toISOString(), timeZone: 'UTC' },
  },
  run,
});

/** The next `count` events of this name, of any of the guards. */
async function several<K extends keyof CronlatchEvents>(
  guards: readonly JobGuard[],
  name: K,
  count: number,
): Promise<CronlatchEvents[K][]> {
  const received: CronlatchEvents[K][] = [];
  await new Promise<void>((resolve) => {
    for (const guard of guards) {
      guard.on(name, (event) => {
        if (received.push(event) === count) resolve();
      });
    }
  });
  return received;
}

testQueue('BullMQ: each tick is run once, for the instant that it was scheduled at', async (bench) => {
  const guards = [bench.place.instance().guard, bench.place.instance().guard];
  const started = several(guards, 'run:started', 4);
  const job = every(bench.name, '* * * * * *', () => Promise.resolve());
  for (const guard of guards) bench.closing(await scheduleWithBullMQ(bench.connection, guard, job));
  const instants = (await started).map(({ scheduledAt }) => scheduledAt?.toISOString() ?? 'none');
  assert.equal(new Set(instants).size, instants.length, instants.join());
  for (const instant of instants) assert.match(instant, /\.000Z$/);
});

testQueue(
  'BullMQ: a tick that found no worker is run by the next one, for its own instant',
  async (bench) => {
    const { connection, queue, name } = bench;
    const { guard } = bench.place.instance();
    const job = every(name, '*/2 * * * * *', () => Promise.resolve());
    const before = await scheduleWithBullMQ(connection, guard, job);
    await before.close();
    const [waiting] = await queue.getJobs(['delayed', 'waiting']);
    const dueMs = waiting?.opts.prevMillis ?? NaN;
    await setTimeout(dueMs + 2000 - Date.now()); // The next one is due as well.

    const after = bench.place.instance().guard;
    const started = several([after], 'run:started', 1);
    bench.closing(await scheduleWithBullMQ(connection, after, job));
    const [first] = await started;
    assert.equal(first?.scheduledAt?.getTime(), dueMs);
  },
);

testQueue(
  'BullMQ: a scheduler whose pattern has changed is replaced',
  async ({ connection, queue, ...bench }) => {
    const { guard } = bench.place.instance();
    const yearly = every(bench.name, '0 0 1 1 *', () => Promise.resolve());
    await (await scheduleWithBullMQ(connection, guard, yearly)).close();
    const other = bench.place.instance().guard;
    const monthly = { ...yearly, expression: '0 0 1 * *' };
    await (await scheduleWithBullMQ(connection, other, monthly)).close();
    assert.equal((await queue.getJobScheduler(bench.name))?.pattern, '0 0 1 * *');
    assert.equal(await queue.getJobSchedulersCount(), 1);
  },
);

testQueue('BullMQ: a failure is one of its job, and its process goes on', async (bench) => {
  const { guard } = bench.place.instance();
  const job = every(bench.name, '* * * * * *', () => Promise.reject(new Error('no connection to the bank')));
  const worker = bench.closing(await scheduleWithBullMQ(bench.connection, guard, job));
  const [failed, error] = (await once(worker, 'failed')) as [{ name: string }, Error];
  assert.equal(failed.name, bench.name);
  assert.equal(error.message, 'no connection to the bank');
});

testQueue(
  'BullMQ: a guard that closes has its job noted as done, and leaves the next tick to others',
  async (bench) => {
    const { connection, name, queue } = bench;
    const { guard } = bench.place.instance();
    let finish = (): void => {};
    const held = new Promise<void>((resolve) => (finish = resolve));
    const started = several([guard], 'run:started', 1);
    const job = every(name, '* * * * * *', () => held);
    const worker = bench.closing(await scheduleWithBullMQ(connection, guard, job));
    const dueMs = (await started)[0]?.scheduledAt?.getTime() ?? NaN;
    const closed = guard.close();
    await setTimeout(dueMs + 2000 - Date.now()); // The next tick has come.
    finish();
    assert.deepEqual((await closed).settled, [name]);
    assert.ok(!worker.isRunning());
    const done = await queue.getJobs(['completed']);
    assert.deepEqual(
      done.map(({ opts }) => opts.prevMillis),
      [dueMs],
    );

    const [waiting] = await queue.getJobs(['waiting', 'delayed']);
    const after = bench.place.instance().guard;
    const next = several([after], 'run:started', 1);
    bench.closing(await scheduleWithBullMQ(connection, after, { ...job, run: () => Promise.resolve() }));
    assert.equal((await next)[0]?.scheduledAt?.getTime(), waiting?.opts.prevMillis);
  },
);

testQueue('BullMQ: a job that it takes for stalled is not started beside itself', async (bench) => {
  const { connection, name, queue } = bench;
  const configuration = { name, lockAtMostFor: '10m' } as const;
  let finish = (): void => {};
  const held = new Promise<void>((resolve) => (finish = resolve));
  const here = bench.place.instance().guard;
  const there = bench.place.instance().guard;
  const started = several([here], 'run:started', 1);
  const skipped = several([there], 'lock:skipped', 1);
  // Its process is not stalled, but sends nothing to Redis any more.
  const silent = { connection, lockDuration: 1000, skipLockRenewal: true, skipStalledCheck: true };
  const worker = bench.closing(
    new Worker(
      name,
      here.wrap(configuration, () => held),
      silent,
    ),
  );
  worker.on('error', () => {}); // That it has lost its job, when it ends.
  await queue.add(name, {});
  await started;
  const never = (): void => assert.fail('it ran beside itself');
  bench.closing(new Worker(name, there.wrap(configuration, never), { connection, stalledInterval: 500 }));
  assert.equal((await skipped)[0]?.reason, 'locked');
  finish();
});
