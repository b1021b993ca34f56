import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { JobGuard, LockStorageError, SchemaMismatchError } from 'cronlatch';
import { signal } from '../support/benches/executor';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { turn } from '../support/benches/lock';
import { eventually } from '../support/clocks/eventually';
import { newGuard } from '../support/benches/guard-with-runs';

const PURGE_LOCK = { name: 'cronlatch-purge', lockAtMostFor: '1m' };

void test('a guard without the option never purges, and sets no timer', () => {
  const { clock } = guardOfRuns();
  assert.equal(clock.pendingTimers, 0);
});

void test('runs older than the retention are purged once a day, without a call', async () => {
  const { guard, runStore, clock, events, provider: lockProvider } = guardOfRuns();
  for (let day = 0; day < 6; day += 1) {
    await guard.run(DAILY, () => 'done');
    clock.advance('1d');
  }
  const purging = newGuard({ lockProvider, runStore, clock, events, retention: '3d', logger: false });
  const purges = mock.method(runStore, 'purge');
  clock.advance('9m');
  await turn();
  assert.equal(purges.mock.callCount(), 0);
  clock.advance('1m');
  await eventually(async () => (await guard.ledger.list()).length === 3, 'three days are left');
  assert.equal(purges.mock.callCount(), 1);
  clock.advance('1d');
  await eventually(async () => (await guard.ledger.list()).length === 2, 'the day after that');
  await purging.close();
});

void test('the catch-up window of a registered job is spared', async () => {
  const { guard, runStore, clock } = guardOfRuns({ retention: '3d' });
  const purges = mock.method(runStore, 'purge');
  guard.wrap({ ...DAILY, oncePer: { ...DAILY.oncePer, catchUp: 'all', catchUpWindow: '9d' } }, () => {});
  clock.advance('10m');
  await eventually(() => purges.mock.callCount() === 1, 'a purge');
  assert.equal(purges.mock.calls[0]?.arguments[0].olderThanMs, 9 * 86_400_000);
});

void test('the catch-up window of a job that only another instance has is spared, also by a purge by hand', async () => {
  const { guard, runStore, clock, provider, emitted } = guardOfRuns({ retention: '3d' });
  const purges = mock.method(runStore, 'purge');
  const other = newGuard({ lockProvider: provider, runStore, clock, logger: false });
  other.wrap({ ...DAILY, oncePer: { ...DAILY.oncePer, catchUp: 'all', catchUpWindow: '9d' } }, () => {});
  await other.close();
  clock.advance('10m');
  await eventually(() => purges.mock.callCount() === 1, 'a purge');
  await guard.ledger.purge({ olderThan: '1d' });
  mock.method(runStore, 'jobs', () => Promise.reject(new SchemaMismatchError('missing')));
  await guard.ledger.purge({ olderThan: '1d' });
  assert.deepEqual(
    purges.mock.calls.map(({ arguments: [{ olderThanMs }] }) => olderThanMs / 86_400_000),
    [9, 9, 1],
  );
  assert.deepEqual(emitted, []);
});

void test('an instance on standby does not purge', async () => {
  const { guard, runStore, clock, other } = guardOfRuns({ retention: '3d', standby: true });
  const purges = mock.method(runStore, 'purge');
  clock.advance('10m');
  await turn();
  assert.equal(await other.inspect(PURGE_LOCK.name), undefined);
  guard.standby(false);
  clock.advance('1d');
  await eventually(() => purges.mock.callCount() === 1, 'the purge of the next day');
});

void test('one instance purges at a time', async () => {
  const { runStore, clock, other, emitted } = guardOfRuns({ retention: '3d' });
  const purges = mock.method(runStore, 'purge');
  const held = await other.lock({ ...PURGE_LOCK, lockAtMostFor: '1h' });
  clock.advance('10m');
  await turn();
  await held?.unlock();
  assert.equal(purges.mock.callCount(), 0);
  clock.advance('1d');
  await eventually(() => purges.mock.callCount() === 1, 'the purge of the next day');
  await eventually(
    async () => (await other.inspect(PURGE_LOCK.name))?.isHeld === false,
    'its lock is released',
  );
  assert.deepEqual(emitted, []);
});

void test('a failure is a warning, and the guard tries again the next day', async () => {
  const { runStore, clock, emitted } = guardOfRuns({ retention: '3d' });
  const error = new LockStorageError('no space', { outcome: 'nothing-ran' });
  const failing = mock.method(runStore, 'purge', () => Promise.reject(error));
  clock.advance('10m');
  await eventually(() => emitted.length === 1, 'a warning');
  const [[name, event] = []] = emitted;
  assert.equal(name, 'guard:warning');
  assert.deepEqual(event, {
    message: 'Could not purge old runs. The guard tries again in a day.',
    error,
  });
  failing.mock.restore();
  const purges = mock.method(runStore, 'purge');
  clock.advance('1d');
  await eventually(() => purges.mock.callCount() === 1, 'the purge of the next day');
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
  assert.equal((await other.inspect(PURGE_LOCK.name))?.isHeld, false);
  assert.equal(clock.pendingTimers, 0);
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
