import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentRun, LockStorageError, SchemaMismatchError } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { instrumentGuard } from 'cronlatch/observability';
import { operations } from 'cronlatch/operations';
import { turn } from '../support/benches/lock';
import { BY } from '../support/jobs/acts';
import { reasonOf, runningJob } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';
import { stoppedBy } from '../support/jobs/close-day';
import { metricsBench } from '../support/benches/metrics';
import { newGuard } from '../support/benches/guard-with-runs';

/** An instrumented guard on stores in memory. */
function bench() {
  const { meterProvider, ...metrics } = metricsBench();
  const runs = guardOfRuns();
  return { ...runs, ...metrics, stop: instrumentGuard(runs.guard, { meterProvider }) };
}

const KEPT_ALIVE = { ...JOB, keepAlive: true } as const;

void test('a completed run counts its attempt, its duration in seconds, and while it lasts its activity', async () => {
  const { guard, clock, read } = bench();
  const job = await runningJob(guard);
  assert.deepEqual(await read(), {
    'cronlatch.clock.offset': { '': 0 },
    'cronlatch.lock.attempts': { 'cronlatch.job=job outcome=acquired': 1 },
    'cronlatch.run.active': { 'cronlatch.job=job': 1 },
    'cronlatch.store.reachable': { '': 1 },
  });
  clock.advance('90s');
  job.finish();
  await job.result;
  const { 'cronlatch.run.active': active, 'cronlatch.run.duration': duration } = await read();
  assert.deepEqual(active, { 'cronlatch.job=job': 0 });
  assert.deepEqual(duration, { 'cronlatch.job=job outcome=completed': [90, 1] });
});

void test('the duration of a run that was made up has an attribute', async () => {
  const { guard, clock, read } = bench();
  guard.wrap(DAILY, () => 'done', {
    schedule: { expression: '0 * * * *', timeZone: 'UTC', dialect: 'croner' },
  });
  await guard.runOverdue();
  clock.advance('61m');
  await guard.runOverdue();
  const { 'cronlatch.run.duration': duration } = await read();
  assert.deepEqual(duration, {
    'cronlatch.job=close-day cronlatch.made_up=true outcome=completed': [0, 1],
  });
});

void test('the durations have bounds from a tenth of a second to six hours', async () => {
  const { guard, collect } = bench();
  await guard.run(JOB, () => {});
  const duration = (await collect()).find(({ descriptor }) => descriptor.name === 'cronlatch.run.duration');
  assert.equal(duration?.descriptor.unit, 's');
  const [point] = duration?.dataPoints ?? [];
  assert.deepEqual(
    (point?.value as { buckets: { boundaries: number[] } }).buckets.boundaries,
    [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 21_600],
  );
});

void test('a lock that another instance holds counts as an attempt and a skip, and not as a run', async () => {
  const { guard, other, read } = bench();
  await other.lock(JOB);
  await guard.run(JOB, () => assert.fail('ran'));
  const { 'cronlatch.lock.attempts': attempts, 'cronlatch.run.skips': skips, ...others } = await read();
  assert.deepEqual(attempts, { 'cronlatch.job=job outcome=locked': 1 });
  assert.deepEqual(skips, { 'cronlatch.job=job reason=locked': 1 });
  assert.equal(others['cronlatch.run.duration'], undefined);
});

void test('a skip because an operator has paused the job has a reason of its own', async () => {
  const { guard, read } = bench();
  await operations(guard).pause({ lock: JOB.name }, { ...BY, until: '1h' });
  await guard.run(JOB, () => assert.fail('ran'));
  const { 'cronlatch.run.skips': skips = {} } = await read();
  assert.ok('cronlatch.job=job reason=paused' in skips, JSON.stringify(skips));
});

void test('a skip before the lock was requested does not count as an attempt', async () => {
  const { guard, read } = bench();
  await guard.run({ ...JOB, enabled: false }, () => assert.fail('ran'));
  const { 'cronlatch.lock.attempts': attempts, 'cronlatch.run.skips': skips } = await read();
  assert.deepEqual([attempts, skips], [undefined, { 'cronlatch.job=job reason=disabled': 1 }]);
});

void test('an attempt whose lock is not confirmed has the type of its error', async () => {
  const { guard, accessor, read } = bench();
  const error = new LockStorageError('refused', { outcome: 'nothing-ran' });
  for (const statement of ['insertRecord', 'updateRecord'] as const)
    accessor.fail(statement, () => Promise.reject(error));
  assert.equal(await reasonOf(guard.run(JOB, () => assert.fail('ran'))), error);
  assert.deepEqual((await read())['cronlatch.lock.attempts'], {
    'cronlatch.job=job error.type=LockStorageError outcome=failed': 1,
  });
});

void test('renewals, a lost lock and a failed release are counted', async () => {
  const { guard, clock, accessor, read } = bench();
  const renewed = await runningJob(guard, KEPT_ALIVE);
  clock.advance('4m');
  await turn();
  renewed.finish();
  await renewed.result;
  const lost = await runningJob(guard);
  clock.advance('11m');
  assert.equal(lost.lock.signal.aborted, true);
  lost.finish();
  await lost.result;
  const tableGone = new SchemaMismatchError('the table is gone');
  accessor.fail('unlock', () => Promise.reject(tableGone));
  await guard.run({ ...JOB, name: 'other' }, () => {});
  const metrics = await read();
  assert.deepEqual(metrics['cronlatch.lock.renewals'], { 'cronlatch.job=job': 1 });
  assert.deepEqual(metrics['cronlatch.lock.lost'], { 'cronlatch.job=job': 1 });
  assert.deepEqual(metrics['cronlatch.lock.release_failures'], { 'cronlatch.job=other': 1 });
});

void test('a failed run counts its consequence and the type of its error', async () => {
  const { guard, clock, read } = bench();
  const job = { ...DAILY, oncePer: { ...DAILY.oncePer, retry: { maxAttempts: 2 } } } as const;
  const fail = (): never => {
    throw new RangeError('mine');
  };
  await reasonOf(guard.run(JOB, () => Promise.reject('a text'))); // eslint-disable-line @typescript-eslint/prefer-promise-reject-errors -- jobs do
  await reasonOf(guard.run(job, fail));
  clock.advance('10m');
  await reasonOf(guard.run(job, fail));
  await guard.run(job, () => assert.fail('ran'));
  const metrics = await read();
  assert.deepEqual(metrics['cronlatch.run.failures'], {
    'cronlatch.job=job error.type=_OTHER outcome=failed': 1,
    'cronlatch.job=close-day error.type=RangeError outcome=will-retry': 1,
    'cronlatch.job=close-day error.type=RangeError outcome=failed-permanently': 1,
  });
  assert.deepEqual(metrics['cronlatch.run.duration'], {
    'cronlatch.job=job outcome=failed': [0, 1],
    'cronlatch.job=close-day outcome=failed': [0, 2],
  });
  assert.deepEqual(metrics['cronlatch.run.skips'], { 'cronlatch.job=close-day reason=exhausted': 1 });
});

void test('a run that its handler gives back is a skip with a duration', async () => {
  const { guard, read } = bench();
  await guard.run(DAILY, () => currentRun().giveBack());
  const metrics = await read();
  assert.deepEqual(metrics['cronlatch.run.skips'], { 'cronlatch.job=close-day reason=given-back': 1 });
  assert.deepEqual(metrics['cronlatch.run.duration'], { 'cronlatch.job=close-day outcome=skipped': [0, 1] });
});

void test('a run that a closing guard gives back is neither a failure nor a skip', async () => {
  const { guard, read } = bench();
  await stoppedBy(guard, DAILY);
  const metrics = await read();
  assert.equal(metrics['cronlatch.run.failures'], undefined);
  assert.equal(metrics['cronlatch.run.skips'], undefined);
  assert.deepEqual(metrics['cronlatch.run.duration'], {
    'cronlatch.job=close-day outcome=given-back': [0, 1],
  });
});

for (const [onCrash, maxAttempts, expected] of [
  ['retry', 3, { 'cronlatch.job=close-day outcome=taken-over': 1 }],
  ['hold', 3, { 'cronlatch.job=close-day outcome=interrupted': 1 }],
  ['retry', 1, { 'cronlatch.job=close-day error.type=ClaimLostError outcome=failed-permanently': 1 }],
] as const) {
  const title = `the crash of another instance counts as ${Object.keys(expected)[0]?.split('outcome=')[1]} (onCrash ${onCrash})`;
  void test(title, async () => {
    const { guard, runStore, clock, read } = bench();
    const job = { ...DAILY, oncePer: { ...DAILY.oncePer, onCrash, retry: { maxAttempts } } } as const;
    const crashed = newGuard({
      ...{ lockProvider: new InMemoryLockProvider({ clock }), runStore, clock, logger: false },
    });
    void crashed.run(job, () => new Promise(() => {}));
    for (let turns = 0; turns < 10; turns += 1) await turn();
    clock.advance('25h');
    await guard.run({ ...job, at: new Date('2026-11-20T03:00:00Z') }, () => {});
    const metrics = await read();
    assert.deepEqual(metrics['cronlatch.run.failures'], expected);
    // The duration of the crashed attempt is unknown.
    const ran = maxAttempts === 3 && onCrash === 'retry';
    assert.deepEqual(
      metrics['cronlatch.run.duration'],
      ran ? { 'cronlatch.job=close-day outcome=completed': [0, 1] } : undefined,
    );
  });
}

void test('a thousand locks named by a function are one series, under the label of their job', async () => {
  const { guard, read } = bench();
  const ship = guard.wrap(
    { name: (orderId: number) => `order-${orderId}`, label: 'ship-order', lockAtMostFor: '1m' },
    (orderId: number) => orderId,
  );
  for (let orderId = 0; orderId < 1000; orderId += 1) await ship(orderId);
  assert.deepEqual((await read())['cronlatch.lock.attempts'], {
    'cronlatch.job=ship-order outcome=acquired': 1000,
  });
});

void test('a thousand locks of the lock manager are one series without a job', async () => {
  const { guard, read } = bench();
  for (let id = 0; id < 1000; id += 1)
    await guard.lockManager().withLock({ name: `cart-${id}`, lockAtMostFor: '1m' }, () => {});
  assert.deepEqual((await read())['cronlatch.lock.attempts'], { 'outcome=acquired': 1000 });
});

void test('after the stop, nothing is recorded any more, and a run that was active has ended', async () => {
  const { guard, stop, read } = bench();
  const job = await runningJob(guard);
  stop();
  job.finish();
  await job.result;
  await guard.run(JOB, () => {});
  const metrics = await read();
  assert.deepEqual(metrics, {
    'cronlatch.lock.attempts': { 'cronlatch.job=job outcome=acquired': 1 },
    'cronlatch.run.active': { 'cronlatch.job=job': 0 },
  });
});

void test('anything but a guard and invalid options are refused', () => {
  const { guard } = guardOfRuns();
  const { meterProvider } = metricsBench();
  assert.throws(() => instrumentGuard(Promise.resolve(guard) as never), {
    code: 'CRONLATCH_INVALID_USE',
    message: /^instrumentGuard expected a job guard, but got .*await it/,
  });
  assert.throws(() => instrumentGuard(guard, { meterProvider: meterProvider.getMeter('mine') as never }), {
    code: 'CRONLATCH_INVALID_USE',
    message: /^meterProvider of instrumentGuard is .*with the method 'getMeter'\.$/,
  });
  assert.throws(() => instrumentGuard(guard, { tracerProvider: null as never }), {
    message: /^tracerProvider of instrumentGuard is null: /,
  });
  assert.throws(() => instrumentGuard(guard, { lateAfter: 'soon' as never }), {
    code: 'CRONLATCH_INVALID_CONFIGURATION',
    message: /^lateAfter /,
  });
});

void test('a guard is instrumented once, or again after the stop', () => {
  const { guard, stop } = bench();
  assert.throws(() => instrumentGuard(guard), {
    code: 'CRONLATCH_INVALID_USE',
    message: /^instrumentGuard was already called for this guard, so its runs would be counted twice\. /,
  });
  stop();
  instrumentGuard(guard)();
});

void test('after a provider that failed, a guard can be instrumented, and counts each run once', async () => {
  const { guard } = guardOfRuns();
  const { meterProvider, read } = metricsBench();
  const tracerProvider = {
    getTracer() {
      throw new Error('no tracer');
    },
  };
  assert.throws(() => instrumentGuard(guard, { meterProvider, tracerProvider }), { message: 'no tracer' });
  const stop = instrumentGuard(guard, { meterProvider });
  await guard.run(JOB, () => {});
  assert.deepEqual((await read())['cronlatch.lock.attempts'], { 'cronlatch.job=job outcome=acquired': 1 });
  stop();
});

void test('without providers, the global ones are used, which do nothing unless an SDK is set up', async () => {
  const { guard } = guardOfRuns();
  const stop = instrumentGuard(guard);
  assert.deepEqual(await guard.run(JOB, () => 7), { executed: true, value: 7 });
  stop();
});
