import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { JobGuard, LockStorageError, SchemaMismatchError } from 'cronlatch';
import type { Run } from '#cronlatch/ledger/run';
import { signal } from '../support/benches/executor';
import { DAILY, guardOfRuns, type GuardOfRuns } from '../support/benches/guard-of-runs';
import { answerOf } from '#cronlatch/operations/state-texts';
import { turn } from '../support/benches/lock';
import { eventually } from '../support/clocks/eventually';
import { newGuard } from '../support/benches/guard-with-runs';
import { operations } from 'cronlatch/operations';

const PURGE = 'cronlatch-purge';
const CATCHING_UP = {
  ...DAILY,
  oncePer: { ...DAILY.oncePer, catchUp: 'all', catchUpWindow: '9d' },
} as const;

/** Waits until so many purges have ended. @returns what they left: the newest first */
async function purged({ guard }: GuardOfRuns, count: number) {
  let runs: readonly Run[] = [];
  await eventually(async () => {
    runs = await guard.ledger.list({ job: PURGE });
    return runs.length === count && runs.every(({ state }) => state !== 'running');
  }, `${count} purges`);
  return runs.map(({ state, result }) => [state, result]);
}

void test('old runs are purged once a day, as runs of a job that show how many were deleted', async () => {
  const made = guardOfRuns({ retention: '3d' });
  const { guard, runStore, clock } = made;
  const job = { ...DAILY, name: 'close-week' };
  const start = clock.wallMs();
  for (let day = -6; day < 0; day += 1)
    await guard.run({ ...job, at: new Date(start + day * 86_400_000) }, () => {});
  clock.advance('9m');
  await turn();
  assert.deepEqual(await guard.ledger.list({ job: PURGE }), []);
  clock.advance('1m');
  assert.deepEqual(await purged(made, 1), [['completed', '0']], 'they were written just now');
  const purges = mock.method(runStore, 'purge');
  clock.advance('1h');
  await turn();
  assert.equal(purges.mock.callCount(), 0, 'once a day');
  clock.advance('5d');
  await turn();
  clock.advance('1h');
  await eventually(async () => (await guard.ledger.list()).length === 2, 'the purge of a later day');
  assert.deepEqual(await purged(made, 1), [['completed', '6']], 'with the run of the first purge');
});

void test('without retention, only runs of ticks are purged, and the newest 1,000 stay', async () => {
  const made = guardOfRuns({ pollInterval: '1h' });
  const { guard, clock, runStore } = made;
  const job = { name: 'poll', lockAtMostFor: '1m', oncePer: { period: 'tick' } } as const;
  for (let tick = 0; tick < 1003; tick += 1) {
    await guard.run(job, () => {});
    clock.advance(1);
  }
  await guard.run(DAILY, () => {});
  const purges = mock.method(runStore, 'purge');
  clock.advance('3d');
  assert.deepEqual(await purged(made, 1), [['completed', '3']]);
  assert.equal((await guard.ledger.list({ job: 'poll', limit: 2000 })).length, 1000);
  assert.deepEqual(
    purges.mock.calls.map(({ arguments: [{ olderThanMs, keptTicks }] }) => [olderThanMs, keptTicks]),
    [[0, 1000]],
  );
});

void test('the catch-up windows of the jobs of all instances are spared, also by a purge by hand', async () => {
  const made = guardOfRuns({ retention: '3d' });
  const { guard, runStore, clock, provider, emitted } = made;
  const other = newGuard({ lockProvider: provider, runStore, clock, logger: false });
  other.wrap(CATCHING_UP, () => {});
  await other.close();
  const purges = mock.method(runStore, 'purge');
  clock.advance('10m');
  await purged(made, 1);
  await operations(guard).purge({ olderThan: '1d', actor: 'anne', reason: 'space' });
  const { mock: jobs } = mock.method(runStore, 'jobs', () =>
    Promise.reject(new SchemaMismatchError('missing')),
  );
  await operations(guard).purge({ olderThan: '1d', actor: 'anne', reason: 'space' });
  jobs.restore();
  guard.wrap(CATCHING_UP, () => {});
  await operations(guard).purge({ olderThan: '1d', actor: 'anne', reason: 'space' });
  const kept = purges.mock.calls.filter(({ arguments: [{ keptTicks }] }) => keptTicks === undefined);
  assert.deepEqual(
    kept.map(({ arguments: [{ olderThanMs }] }) => olderThanMs / 86_400_000),
    [9, 9, 1, 9],
  );
  assert.deepEqual(
    emitted.filter(([name]) => name === 'guard:warning'),
    [],
  );
});

void test('a guard that does nothing by itself does not purge either', () => {
  assert.equal(guardOfRuns({ pollInterval: false }).clock.pendingTimers, 0);
});

void test('an instance on standby does not purge, and may do so an hour later', async () => {
  const made = guardOfRuns({ retention: '3d', standby: true });
  const { guard, clock } = made;
  clock.advance('10m');
  await turn();
  guard.standby(false);
  clock.advance('59m');
  await turn();
  assert.deepEqual(await guard.ledger.list({ job: PURGE }), []);
  clock.advance('1m');
  await purged(made, 1);
});

void test('of two instances, one purges', async () => {
  const made = guardOfRuns({ retention: '3d' });
  newGuard(made.options());
  const purges = mock.method(made.runStore, 'purge');
  made.clock.advance('10m');
  await purged(made, 1);
  made.clock.advance('1h');
  await turn();
  assert.equal(purges.mock.callCount(), 2, 'first the ticks, then the others');
});

void test('a purge that fails is a failed run, and each of the next hours another attempt, three in all', async () => {
  const made = guardOfRuns({ retention: '3d' });
  const { guard, runStore, clock, events } = made;
  const failures: unknown[] = [];
  events.on('run:failed', ({ name, error, isFinal }) => void failures.push([name, error, isFinal]));
  const error = new LockStorageError('no space', { outcome: 'nothing-ran' });
  const failing = mock.method(runStore, 'purge', () => Promise.reject(error));
  clock.advance('10m');
  for (const attempt of [1, 2, 3]) {
    await eventually(async () => {
      const [run] = await guard.ledger.list({ job: PURGE });
      return run?.state === 'failed' && run.attempt === attempt;
    }, `attempt ${attempt}`);
    clock.advance('1h');
  }
  await turn();
  assert.equal(failing.mock.callCount(), 3);
  assert.deepEqual(
    failures,
    [undefined, undefined, true].map((isFinal) => [PURGE, error, isFinal]),
  );
  failing.mock.restore();
  clock.advance('1d');
  await turn();
  clock.advance('1h');
  assert.deepEqual((await purged(made, 2))[0], ['completed', '0']);
});

void test('a closing guard ends its purge after the transaction that it is in, and releases the lock', async () => {
  const { guard, runStore, clock, other } = guardOfRuns({ retention: '3d' });
  const [began, answer] = [signal(), signal()];
  const purges = mock.method(runStore, 'purge', async () => {
    began.resolve();
    await answer.promise;
    assert.ok(purges.mock.callCount() < 5, 'the purge should have ended');
    return { deleted: 1, next: 'more' };
  });
  clock.advance('10m');
  await began.promise;
  const closed = guard.close();
  answer.resolve();
  await closed;
  assert.equal(purges.mock.callCount(), 1);
  assert.equal((await other.inspect(PURGE))?.isHeld, false);
  assert.equal(clock.pendingTimers, 0);
});

void test('it is the last job of an overview, and neither late nor missed nor counted', async () => {
  const made = guardOfRuns({ retention: '9d' });
  const { guard, clock } = made;
  const job = guard.wrap(DAILY, () => {});
  clock.advance('10m');
  await purged(made, 1);
  clock.advance('50h');
  await job();
  await guard.run({ ...DAILY, name: 'z' }, () => {});
  await guard.close();
  const { jobs, locks } = await operations(guard).overview();
  assert.deepEqual(
    jobs.map(({ job, state, problems, notes }) => [job, state, problems, notes]),
    [
      ['close-day', 'ok', [], []],
      ['z', 'ok', [], []],
      [PURGE, 'ok', [], []],
    ],
  );
  assert.deepEqual(locks, []);
  assert.equal(answerOf(jobs), '2 jobs: 2 ok');
});

void test('no other job, and no lock of one, can have the names of the jobs of cronlatch', async () => {
  const { guard } = guardOfRuns();
  for (const name of [PURGE, 'cronlatch-notices'])
    for (const wrong of [
      { ...DAILY, name },
      { ...DAILY, oncePer: { ...DAILY.oncePer, name } },
      { name, lockAtMostFor: '1m' },
    ] as const) {
      const refused = {
        name: 'InvalidLockConfigurationError',
        message: `A job cannot have the name '${name}': cronlatch has a job of that name. Choose another name.`,
      };
      assert.throws(() => guard.wrap(wrong, () => {}), refused);
      await assert.rejects(
        guard.run(wrong, () => {}),
        refused,
      );
    }
});

void test('the option needs a run store and a duration', () => {
  const { provider: lockProvider, runStore } = guardOfRuns();
  assert.throws(() => new JobGuard({ lockProvider, retention: '3d' }), {
    message: /^retention needs a ledger, /,
  });
  for (const retention of ['3 days', 0, '36501d'])
    assert.throws(() => newGuard({ lockProvider, runStore, retention }), {
      name: 'InvalidLockConfigurationError',
      message: /^retention is /,
    });
});
