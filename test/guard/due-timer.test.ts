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

async function pass({ clock }: GuardOfRuns, steps: number, step: Duration): Promise<void> {
  for (let count = 0; count < steps; count += 1) {
    clock.advance(step);
    await turn();
  }
}

void test('from the first once-per job on, the guard looks for overdue runs every minute', async (t) => {
  const bench = dueBench(t);
  const { guard, clock, looks } = bench;
  guard.wrap(JOB, () => {});
  const before = clock.pendingTimers;
  guard.wrap({ ...DAILY, name: 'daily' }, () => {});
  assert.ok(clock.pendingTimers > before);
  clock.advance('59s');
  assert.equal(looks(), 0);
  await pass(bench, 1, '1s');
  await pass(bench, 2, '1m');
  assert.equal(looks(), 3);
});

void test('pollInterval sets the interval', async (t) => {
  const bench = dueBench(t, '10s');
  bench.guard.wrap(DAILY, () => {});
  await pass(bench, 6, '10s');
  assert.equal(bench.looks(), 6);
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
  const bench = dueBench(t, '1m');
  const { guard, looks } = bench;
  let runs = 0;
  const job = guard.wrap(DAILY, () => {
    runs += 1;
    if (runs === 1) throw new Error('the first time');
    return new Promise<void>(() => {});
  });
  await job();
  await pass(bench, 5, '1m');
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
