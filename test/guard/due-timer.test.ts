import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Duration } from 'cronlatch';
import { guardBench, nextEvent } from '../support/benches/guard';
import { DAILY, guardOfRuns, type GuardOfRuns } from '../support/benches/guard-of-runs';
import { JOB, turn } from '../support/benches/lock';
import { eventually } from '../support/clocks/eventually';

/** Counts how often the guard looks for overdue runs in the store. */
function dueBench(t: TestContext, pollInterval?: Duration | false): GuardOfRuns & { looks: () => number } {
  const bench = guardOfRuns({ pollInterval });
  const { mock } = t.mock.method(bench.runStore, 'overdue');
  return { ...bench, looks: () => mock.callCount() };
}

void test('from the first once-per job on, the guard looks for overdue runs every minute', async (t) => {
  const { guard, clock, looks } = dueBench(t);
  guard.wrap(JOB, () => {});
  const before = clock.pendingTimers;
  guard.wrap({ ...DAILY, name: 'daily' }, () => {});
  assert.ok(clock.pendingTimers > before);
  clock.advance('59s');
  assert.equal(looks(), 0);
  for (const time of ['1s', '1m', '1m'] as const) {
    clock.advance(time);
    await turn();
  }
  assert.equal(looks(), 3);
});

void test('pollInterval sets the interval', async (t) => {
  const { guard, clock, looks } = dueBench(t, '10s');
  guard.wrap(DAILY, () => {});
  for (let look = 1; look <= 6; look += 1) {
    clock.advance('10s');
    await turn();
  }
  assert.equal(looks(), 6);
});

void test('the next look waits for an unanswered one to end', async (t) => {
  const { guard, clock, runStore } = guardOfRuns({ pollInterval: '100ms' });
  let answer = (): void => {};
  const { mock } = t.mock.method(
    runStore,
    'overdue',
    () => new Promise((resolve) => (answer = () => resolve([]))),
  );
  guard.wrap(DAILY, () => {});
  clock.advance('3s');
  await turn();
  assert.equal(mock.callCount(), 1);
  answer();
  await turn();
  clock.advance('100ms');
  await turn();
  assert.equal(mock.callCount(), 2);
});

void test('a run in progress does not delay the next look', async (t) => {
  const { guard, clock, looks } = dueBench(t, '1m');
  let runs = 0;
  const job = guard.wrap(DAILY, () => {
    runs += 1;
    if (runs === 1) throw new Error('the first time');
    return new Promise<void>(() => {});
  });
  await job();
  for (let minute = 1; minute <= 5; minute += 1) {
    clock.advance('1m');
    await turn();
  }
  await eventually(() => runs === 2, 'the second attempt runs');
  assert.equal(looks(), 5);
  await guard.close({ timeout: 0 });
});

void test('with pollInterval: false the guard only looks when runOverdue is called', async (t) => {
  const { guard, clock, looks } = dueBench(t, false);
  guard.wrap(DAILY, () => {});
  assert.equal(clock.pendingTimers, 0);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.equal(looks(), 1);
});

for (const pollInterval of ['soon', 0, '-1m']) {
  void test(`pollInterval: ${pollInterval} is rejected when the guard is created`, () => {
    assert.throws(() => guardBench({ pollInterval }), {
      name: 'InvalidLockConfigurationError',
      message: /^pollInterval is /,
    });
  });
}

void test('a guard without once-per jobs does not look for overdue runs', async (t) => {
  assert.deepEqual(await guardBench().guard.runOverdue(), { started: 0, overdue: 0 });
  const { guard, looks } = dueBench(t);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.equal(looks(), 0);
});

void test('close stops the timer, and a job registered afterwards does not start it again', async (t) => {
  const { guard, clock, looks } = dueBench(t);
  guard.wrap(DAILY, () => {});
  await guard.close();
  assert.equal(clock.pendingTimers, 0);
  guard.wrap({ ...DAILY, name: 'late' }, () => {});
  assert.equal(clock.pendingTimers, 0);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.equal(looks(), 0);
});

void test('close waits for a run that the timer started, as for any other', async (t) => {
  const { guard, clock, names } = dueBench(t);
  let end: (() => void) | undefined;
  const job = guard.wrap(DAILY, async () => {
    if (names().includes('run:failed')) await new Promise<void>((resolve) => (end = resolve));
    else throw new Error('the first time');
  });
  await job();
  const again = nextEvent(guard, 'run:started');
  clock.advance('2m');
  await again;
  await eventually(() => end !== undefined, 'the second attempt runs');
  let closed = false;
  const closing = guard.close().finally(() => (closed = true));
  await turn();
  assert.equal(closed, false);
  end?.();
  assert.deepEqual(await closing, { settled: ['close-day'], abandoned: [] });
  assert.ok(names().includes('run:completed'));
});
