import assert from 'node:assert/strict';
import { type JobConfiguration, type OncePerConfiguration } from 'cronlatch';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { reasonOf, runningJob } from '../../support/benches/guard';
import { instanceBehind, type Network } from '../../support/faults/out-of-reach';
import { countedTask, diary, failing, rowsOf } from '../../support/jobs/close-day';
import type { Instance } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

const STEP_MS = 60_000;
const TICKS = Array.from(
  { length: 5 },
  (_, at) => new Date(Date.parse('2026-11-20T03:00:00Z') + at * STEP_MS),
);

function sync(oncePer: Partial<OncePerConfiguration> = {}): JobConfiguration {
  return { name: 'sync', lockAtMostFor: '1m', oncePer: { period: 'tick', ...oncePer } };
}

/** A job with a tick a minute, which the test calls as its scheduler does. */
function everyMinute({ guard }: Instance, task: () => unknown, oncePer: Partial<OncePerConfiguration> = {}) {
  const calls = callsOf(guard);
  const call = () => task;
  const schedules = [{ expression: '* * * * *', dialect: 'unix' }] as const;
  const job = calls.admitOne({ configuration: sync(oncePer), call, place: 'everyMinute', schedules });
  return async (scheduledAt?: Date): Promise<unknown> => {
    const result = await calls.execute(job, { task, args: [], call, scheduledAt });
    return result.executed ? 'ran' : result.reason;
  };
}

testLedger('each tick runs once, also if one instance calls it later than another (S-22)', async (place) => {
  const { task, runs } = diary();
  const instances = [place.instance(), place.instance()];
  const [first, second] = instances.map((instance) => everyMinute(instance, task));
  for (const scheduledAt of TICKS) {
    assert.equal(await first?.(scheduledAt), 'ran');
    await place.elapse('300ms');
    assert.equal(await second?.(scheduledAt), 'already-completed');
    await place.elapse(STEP_MS - 300);
  }
  assert.deepEqual(
    runs.map(({ periodKey, isCatchUp }) => [periodKey, isCatchUp]),
    TICKS.map((tick) => [tick.toISOString(), false]),
  );
  const [instance] = instances;
  assert.ok(instance);
  assert.deepEqual(
    await rowsOf(instance, 'sync'),
    TICKS.map((tick) => `${tick.toISOString()} completed`),
  );
  const [newest] = await instance.guard.ledger.list({ job: 'sync', limit: 1 });
  assert.deepEqual([newest?.periodStart, newest?.periodEnd], [TICKS.at(-1), undefined]);
});

testLedger(
  'a tick keeps the time of its scheduler, however wrong the clock of the host is',
  async (place) => {
    const { clock } = place;
    const ahead = {
      monotonicMs: () => clock.monotonicMs(),
      wallMs: () => clock.wallMs() + 3_600_000,
      schedule: clock.schedule.bind(clock),
    };
    const [right, wrong] = [place.instance(), place.instance({ clock: ahead })];
    const { task, runs } = countedTask();
    const [scheduledAt] = TICKS;
    assert.equal(await everyMinute(right, task)(scheduledAt), 'ran');
    assert.equal(await everyMinute(wrong, task)(scheduledAt), 'already-completed');
    assert.equal(runs(), 1);
    assert.deepEqual(wrong.of('guard:warning'), []);
  },
);

testLedger('a call without a scheduled time is a run of its own', async (place) => {
  const instance = place.instance();
  const { task, runs } = countedTask();
  for (let call = 0; call < 3; call += 1) assert.ok((await instance.guard.run(sync(), task)).executed);
  assert.equal(runs(), 3);
  const rows = await rowsOf(instance, 'sync');
  assert.equal(rows.length, 3);
  for (const row of rows) assert.match(row, /^2026-11-20T03:00:00\.\d{3}Z#[0-9a-f]{6} completed$/);
});

testLedger('all instances together run an interval once', async (place) => {
  const { task, runs } = countedTask();
  const instances = [place.instance(), place.instance()].map(({ guard }) => {
    const calls = callsOf(guard);
    const call = () => task;
    const schedules = [{ every: STEP_MS }];
    const job = calls.admitOne({ configuration: sync(), call, place: 'interval', schedules });
    return async () => await calls.execute(job, { task, args: [], call });
  });
  for (let minute = 0; minute < 3; minute += 1) {
    for (const call of instances) {
      await call();
      await place.elapse('20s');
    }
    await place.elapse('20s');
  }
  assert.equal(runs(), 3);
  assert.deepEqual(
    await rowsOf(place.instance(), 'sync'),
    TICKS.slice(0, 3).map((tick) => `${tick.toISOString()} completed`),
  );
});

testLedger(
  'a job that is longer than its step never runs twice at once, nor in a burst afterwards (S-27)',
  async (place) => {
    const instance = place.instance();
    const job = await runningJob(instance.guard, { ...sync(), lockAtMostFor: '10m', at: TICKS[0] });
    const { task, runs } = countedTask();
    const here = everyMinute(instance, task);
    const there = everyMinute(place.instance(), task);
    for (const scheduledAt of TICKS.slice(1)) {
      await place.elapse(STEP_MS);
      assert.equal(await here(scheduledAt), 'running-here');
      assert.equal(await there(scheduledAt), 'locked');
    }
    assert.ok(instance.of('lock:skipped').every(({ willRetry }) => !willRetry));
    job.finish();
    await job.result;
    assert.deepEqual(await instance.guard.runOverdue(), { started: 0, overdue: 0 });
    assert.equal(runs(), 0);
    assert.deepEqual(await rowsOf(instance, 'sync'), [`${TICKS[0]?.toISOString()} completed`]);
  },
);

testLedger('a tick whose store does not answer is run later, until the next tick is due', async (place) => {
  const network: Network = { isUp: false };
  const instance = instanceBehind(network, place);
  const { task, periods } = diary();
  const tick = everyMinute(instance, task);
  await assert.rejects(tick(TICKS[0]));
  assert.equal(instance.of('lock:failed').at(-1)?.willRetry, true);
  await place.elapse('30s');
  network.isUp = true;
  assert.deepEqual(await instance.guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(periods(), [TICKS[0]?.toISOString()]);

  network.isUp = false;
  await assert.rejects(tick(TICKS[1]));
  await place.elapse('2m');
  network.isUp = true;
  assert.deepEqual(await instance.guard.runOverdue(), { started: 0, overdue: 0 });
  assert.equal(
    instance.of('guard:warning').at(-1)?.message,
    `The tick ${TICKS[1]?.toISOString()} of job 'sync' could not run before the next one, so it is lost.`,
  );
});

testLedger('a tick that no store answered is answered by a run that ends after it', async (place) => {
  const network: Network = { isUp: true };
  const instance = instanceBehind(network, place);
  const { task, runs } = countedTask();
  const tick = everyMinute(instance, task);
  const job = await runningJob(place.instance().guard, { ...sync(), at: TICKS[0] });
  await place.elapse('40s');
  network.isUp = false;
  await assert.rejects(tick(new Date(TICKS[0]!.getTime() + 40_000)));
  network.isUp = true;
  await place.elapse('5s');
  job.finish();
  await job.result;
  assert.deepEqual(await instance.guard.runOverdue(), { started: 0, overdue: 0 });
  assert.equal(runs(), 0);
  assert.ok(instance.of('guard:warning').every(({ message }) => !message.includes('is lost')));
});

testLedger('a tick that has run asks for no lock, although a later one is running', async (place) => {
  const late = place.instance();
  const { task } = countedTask();
  assert.equal(await everyMinute(place.instance(), task)(TICKS[0]), 'ran');
  const job = await runningJob(place.instance().guard, { ...sync(), at: TICKS[1] });
  assert.equal(await everyMinute(late, task)(TICKS[0]), 'already-completed');
  assert.deepEqual(late.of('lock:skipped'), []);
  job.finish();
  await job.result;
});

testLedger('a crash of its only attempt is a failed run, and the next tick runs', async (place) => {
  const crashed = await runningJob(place.instance().guard, { ...sync(), at: TICKS[0] });
  await place.elapse('61s');
  const instance = place.instance();
  const { task, runs } = countedTask();
  assert.equal(await everyMinute(instance, task)(TICKS[1]), 'ran');
  assert.equal(runs(), 1);
  assert.deepEqual(await rowsOf(instance, 'sync'), [
    `${TICKS[0]?.toISOString()} failed(lease-ended)`,
    `${TICKS[1]?.toISOString()} completed`,
  ]);
  crashed.finish();
  await reasonOf(crashed.result);
});

testLedger('a failed tick is not retried, unless the job asks for it', async (place) => {
  const instance = place.instance();
  const once = failing(1);
  const tick = everyMinute(instance, once.task);
  await assert.rejects(tick(TICKS[0]));
  assert.deepEqual(await rowsOf(instance, 'sync'), [`${TICKS[0]?.toISOString()} failed(exhausted)`]);

  const other = place.instance();
  const twice = failing(1);
  const retried = everyMinute(other, twice.task, {
    name: 'retried',
    retry: { maxAttempts: 2, initialDelay: '10s' },
  });
  await assert.rejects(retried(TICKS[0]));
  await place.elapse('11s');
  assert.deepEqual(await other.guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(await rowsOf(other, 'retried'), [`${TICKS[0]?.toISOString()} completed`]);
});

const REFUSED: [Partial<OncePerConfiguration>, RegExp][] = [
  [
    { catchUp: 'latest' },
    /catchUp of job 'sync' is "latest": a tick is never caught up with\. Use a period such as 'hour'/,
  ],
  [{ catchUp: 'all' }, /catchUp of job 'sync' is "all"/],
  [{ target: 'previous' }, /target of job 'sync' is "previous": a tick counts for itself/],
  [{ retry: { until: 'period-end' } }, /retry\.until of job 'sync' is "period-end": a tick has no end/],
];

testLedger('a tick refuses what only periods of a calendar have', (place) => {
  for (const [option, message] of REFUSED)
    assert.throws(() => place.instance().guard.check(sync(option)), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
      message,
    });
  return Promise.resolve();
});
