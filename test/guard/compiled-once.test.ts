import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardOfRuns } from '../support/benches/guard-of-runs';
import { countedParses } from '../support/jobs/counted-parses';

void test('a wrapped function parses its configuration when it is wrapped, and no tick parses it again', async (t) => {
  const { guard, clock } = guardOfRuns();
  const parses = countedParses(t);
  let runs = 0;
  const tick = guard.wrap({ ...parses.lock, oncePer: { ...parses.oncePer, period: 'day' } }, () => {
    runs += 1;
  });
  const before = [parses.reads(), parses.nameChecks()];
  for (let day = 0; day < 3; day += 1) {
    await tick();
    clock.advance('1d');
  }
  assert.equal(runs, 3);
  assert.deepEqual([parses.reads(), parses.nameChecks()], before);
});

void test('an overdue run of a wrapped function does not parse its configuration', async (t) => {
  const { guard, clock } = guardOfRuns();
  const parses = countedParses(t);
  let runs = 0;
  const tick = guard.wrap({ ...parses.lock, oncePer: { ...parses.oncePer, period: 'day' } }, () => {
    runs += 1;
    if (runs === 1) throw new Error('no bank today');
  });
  await tick();
  const before = [parses.reads(), parses.nameChecks()];
  clock.advance('1m');
  assert.equal((await guard.runOverdue()).started, 1);
  assert.equal(runs, 2);
  assert.deepEqual([parses.reads(), parses.nameChecks()], before);
});

void test('guard.run parses its configuration once per call', async (t) => {
  const { guard, clock } = guardOfRuns();
  const parses = countedParses(t);
  const configuration = { ...parses.lock, oncePer: { ...parses.oncePer, period: 'day' } } as const;
  for (let day = 1; day <= 3; day += 1) {
    assert.equal((await guard.run(configuration, () => {})).executed, true);
    clock.advance('1d');
    assert.deepEqual([parses.reads(), parses.nameChecks()], [day, day]);
  }
});

void test('a configuration that is changed between two calls of guard.run is read again', async () => {
  const { guard, clock } = guardOfRuns();
  const retry = { maxAttempts: 1 };
  const oncePer = { period: 'day', timeZone: 'UTC', retry } as const;
  const configuration = { name: 'close-day', lockAtMostFor: '1m', oncePer };
  const fail = () => Promise.reject(new Error('no bank today'));
  const isRetried = async (): Promise<boolean> => {
    clock.advance('1d');
    await assert.rejects(guard.run(configuration, fail));
    return (await guard.ledger.last('close-day'))?.nextAttemptAt !== undefined;
  };
  assert.equal(await isRetried(), false);
  retry.maxAttempts = 2;
  assert.equal(await isRetried(), true);
  configuration.lockAtMostFor = '2h';
  await guard.run({ ...configuration, oncePer: undefined }, (lock) =>
    assert.equal(lock.remainingMs(), 7_200_000),
  );
});
