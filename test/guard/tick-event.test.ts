import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentRun, LockStorageError, OncePerDay, SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { reasonOf, runningJob } from '../support/benches/guard';
import { DAILY, guardOfRuns, type GuardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';
import { stoppedBy } from '../support/jobs/close-day';
import type { FaultyAccessor } from '../support/faults/accessor';

type Tick = CronlatchEvents['tick'];

const scheduledAt = new Date('2026-11-20T03:00:00Z');
const own = { name: 'job', job: 'job', scheduledAt };
const daily = { name: 'close-day', job: 'close-day', scheduledAt };
const mine = new Error('mine');
const fails = (): never => {
  throw mine;
};
const never = (): never => assert.fail('ran');

/** Today's run of the daily job. */
function run(attempt: number) {
  return { job: 'close-day', scope: '', periodKey: '2026-11-20', generation: 0, attempt };
}

function tickBench() {
  const bench = guardOfRuns();
  const ticks: Tick[] = [];
  bench.guard.on('tick', (tick) => void ticks.push(tick));
  return { ...bench, ticks };
}

type Bench = GuardOfRuns & { readonly ticks: Tick[] };

function refuseOnce(accessor: FaultyAccessor): LockStorageError {
  const error = new LockStorageError('refused', { outcome: 'nothing-ran' });
  accessor.fail('updateRecord', () => Promise.reject(error));
  return error;
}

/** Each case makes one call, the last one, and returns the tick that it expects. */
const CASES: Record<string, (bench: Bench) => Promise<Tick>> = {
  async 'that completes'({ guard, clock }) {
    await guard.run({ ...JOB, scheduledAt }, () => void clock.advance('90s'));
    return { ...own, outcome: 'completed', durationMs: 90_000 };
  },
  async 'that fails'({ guard, clock }) {
    const task = (): never => {
      clock.advance(7);
      throw mine;
    };
    assert.equal(await reasonOf(guard.run({ ...JOB, scheduledAt }, task)), mine);
    return { ...own, outcome: 'failed', durationMs: 7, error: mine };
  },
  async 'whose lock another instance holds'({ guard, other }) {
    await other.lock(JOB);
    await guard.run({ ...JOB, scheduledAt }, never);
    return { ...own, outcome: 'skipped', reason: 'locked' };
  },
  async 'whose job still runs here'({ guard, ticks }) {
    const job = await runningJob(guard);
    await guard.run({ ...JOB, scheduledAt }, never);
    const expected = { ...own, outcome: 'skipped', reason: 'running-here' } as const;
    assert.deepEqual(ticks, [expected]);
    await job.end();
    assert.equal(ticks.pop()?.outcome, 'completed');
    return expected;
  },
  async 'of a closing guard'({ guard }) {
    await guard.close();
    await guard.run({ ...JOB, scheduledAt }, never);
    return { ...own, outcome: 'skipped', reason: 'closing' };
  },
  async 'whose lock is not confirmed'({ guard, accessor }) {
    const error = refuseOnce(accessor);
    assert.equal(await reasonOf(guard.run({ ...JOB, scheduledAt }, never)), error);
    return { ...own, outcome: 'lock-failed', error };
  },
  async 'of a once-per job that completes'({ guard, clock }) {
    await guard.run({ ...DAILY, scheduledAt }, () => void clock.advance(7));
    return { ...daily, outcome: 'completed', run: run(1), durationMs: 7 };
  },
  async 'of a once-per job that fails'({ guard }) {
    assert.equal(await reasonOf(guard.run({ ...DAILY, scheduledAt }, fails)), mine);
    return { ...daily, outcome: 'failed', run: run(1), durationMs: 0, error: mine };
  },
  async 'whose day is completed'({ guard, ticks }) {
    await guard.run(DAILY, () => {});
    ticks.pop();
    await guard.run({ ...DAILY, scheduledAt }, never);
    return { ...daily, outcome: 'skipped', reason: 'already-completed', run: run(1) };
  },
  async 'whose retry is not due yet'({ guard, ticks }) {
    await reasonOf(guard.run(DAILY, fails));
    ticks.pop();
    await guard.run({ ...DAILY, scheduledAt }, never);
    return { ...daily, outcome: 'skipped', reason: 'not-due', run: run(1) };
  },
  async 'that gives its run back'({ guard }) {
    await guard.run({ ...DAILY, scheduledAt }, () => currentRun().giveBack());
    return { ...daily, outcome: 'skipped', reason: 'given-back', run: run(1), durationMs: 0 };
  },
  async 'that gives its run back, and then fails'({ guard }) {
    const task = (): never => {
      currentRun().giveBack();
      throw mine;
    };
    assert.equal(await reasonOf(guard.run({ ...DAILY, scheduledAt }, task)), mine);
    return { ...daily, outcome: 'failed', run: run(1), durationMs: 0, error: mine };
  },
  async 'whose run a closing guard gives back'({ guard }) {
    await stoppedBy(guard, { ...DAILY, scheduledAt });
    return { ...daily, outcome: 'skipped', reason: 'given-back', run: run(1), durationMs: 0 };
  },
  async 'that skips its day'({ guard }) {
    await guard.run({ ...DAILY, scheduledAt }, () => currentRun().skip('nothing to do'));
    return { ...daily, outcome: 'skipped', reason: 'skipped', run: run(1), durationMs: 0 };
  },
  async 'of a once-per job whose lock is held'({ guard, other }) {
    await other.lock(DAILY);
    await guard.run({ ...DAILY, scheduledAt }, never);
    return { ...daily, outcome: 'skipped', reason: 'locked', run: run(0) };
  },
  async 'of a once-per job whose lock is not confirmed'({ guard, accessor }) {
    const error = refuseOnce(accessor);
    assert.equal(await reasonOf(guard.run({ ...DAILY, scheduledAt }, never)), error);
    return { ...daily, outcome: 'lock-failed', run: run(0), error };
  },
  async 'whose runs cannot be read'({ guard, runStore }) {
    const error = new LockStorageError('refused', { outcome: 'nothing-ran' });
    runStore.peek = () => Promise.reject(error);
    assert.equal(await reasonOf(guard.run({ ...DAILY, scheduledAt }, never)), error);
    return { ...daily, outcome: 'lock-failed', error };
  },
  async 'of a wrapped function'({ guard }) {
    assert.equal(await guard.wrap(JOB, fails, { scheduledAt: () => scheduledAt })(), undefined);
    return { ...own, outcome: 'failed', durationMs: 0, error: mine };
  },
  async 'of a wrapped function whose scheduled time cannot be read'({ guard, ticks }) {
    await guard.wrap(JOB, never, { scheduledAt: fails })();
    const error = ticks[0]?.error;
    assert.match(String(error), /scheduledAt of job 'job' threw/);
    return { name: 'job', job: 'job', scheduledAt: undefined, outcome: 'lock-failed', error };
  },
};

for (const [what, act] of Object.entries(CASES)) {
  void test(`a call ${what} emits one tick with its outcome`, async () => {
    const bench = tickBench();
    const expected = await act(bench);
    assert.deepEqual(bench.ticks, [expected]);
  });
}

void test('a call from inside its own run has a tick of its own, with that run', async () => {
  const { guard, ticks } = tickBench();
  const inner = async (): Promise<unknown> => await reasonOf(guard.run(DAILY, fails));
  await guard.run({ ...DAILY, scheduledAt }, inner);
  const nested = { name: 'close-day', job: 'close-day', scheduledAt: undefined, run: run(1), durationMs: 0 };
  assert.deepEqual(ticks, [
    { ...nested, outcome: 'failed', error: mine },
    { ...daily, outcome: 'completed', run: run(1), durationMs: 0 },
  ]);
});

void test('the overdue runs that a call also starts do not change its tick, and have none', async () => {
  const { guard, ticks, clock } = tickBench();
  const days: string[] = [];
  const job = guard.wrap(DAILY, () => {
    days.push(currentRun().periodKey);
    if (days.length < 3) throw mine;
  });
  await job();
  clock.advance('1d');
  await job();
  clock.advance('10m');
  await guard.runOverdue();
  assert.deepEqual(days, ['2026-11-20', '2026-11-21', '2026-11-20', '2026-11-21']);
  assert.deepEqual(
    ticks.map((tick) => [tick.run?.periodKey, tick.outcome]),
    [
      ['2026-11-20', 'failed'],
      ['2026-11-21', 'failed'],
    ],
  );
});

void test('a decorated method emits one tick for each of its calls', async () => {
  class Jobs {
    @SchedulerLock('report', '10m')
    async report(): Promise<void> {}

    @OncePerDay({ timeZone: 'Europe/Paris', name: 'close-day' })
    @SchedulerLock('close-day', '10m')
    async closeDay(): Promise<void> {}
  }
  await using bench = useTestGuard();
  const ticks: string[] = [];
  bench.guard.on('tick', ({ name, outcome, reason }) => void ticks.push([name, outcome, reason].join(' ')));
  const jobs = new Jobs();
  await jobs.report();
  await jobs.closeDay();
  await jobs.closeDay();
  assert.deepEqual(ticks, [
    'report completed ',
    'close-day completed ',
    'close-day skipped already-completed',
  ]);
});

void test('each dropped tick of a stall is a tick whose lock failed, or that a closing guard skipped', async () => {
  const { guard, ticks, names } = tickBench();
  const integration = callsOf(guard);
  const job = integration.admitOne({ configuration: JOB, call: () => never, place: 'here' });
  const later = new Date('2026-11-20T03:01:00Z');
  integration.dropTicks(job, [scheduledAt, later], mine);
  const dropped = { name: 'job', job: 'job', outcome: 'lock-failed', error: mine } as const;
  assert.deepEqual(ticks, [
    { ...dropped, scheduledAt },
    { ...dropped, scheduledAt: later },
  ]);
  assert.deepEqual(names(), ['lock:failed']);
  await guard.close();
  integration.dropTicks(job, [later], mine);
  assert.deepEqual(ticks.at(-1), { ...own, scheduledAt: later, outcome: 'skipped', reason: 'closing' });
  assert.equal(ticks.length, 3);
});
