// More of this subject: guard/switches.test.ts
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { InvalidLockConfigurationError, JobGuard, type CronlatchEvents } from 'cronlatch';
import { LedgerRunCoordinator } from 'cronlatch/node-cron';
import { guardBench } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';

const never = (): never => assert.fail('ran');
const STANDBY = { executed: false, reason: 'standby' };

/** The reasons of all skips, in order. */
function skipsOf(guard: JobGuard): (readonly [name: string, reason: string, willRetry: boolean])[] {
  const skips: (readonly [string, string, boolean])[] = [];
  guard.on('lock:skipped', ({ name, reason, willRetry }) => void skips.push([name, reason, willRetry]));
  return skips;
}

void test('a value that is neither a boolean nor a function is rejected at once, by the method and by the option', () => {
  const { guard, provider: lockProvider } = guardBench();
  const standby = 'true' as unknown as boolean;
  const message = 'standby of the guard is "true": it must be a boolean, or a function that returns one.';
  assert.throws(() => guard.standby(standby), { message });
  assert.throws(() => new JobGuard({ lockProvider, standby }), { message });
});

void test('a guard can start on standby', async () => {
  const { guard } = guardOfRuns({ standby: true });
  assert.deepEqual(await guard.run(JOB, never), STANDBY);
  guard.standby(false);
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
});

void test('if the function fails, no overdue run starts, and one warning reports it', async () => {
  const { guard, emitted } = guardOfRuns();
  guard.wrap(DAILY, never);
  guard.wrap({ ...DAILY, name: 'other' }, never);
  guard.standby(() => {
    throw new Error('no flags');
  });
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  const warnings = emitted.flatMap(([name, event]) =>
    name === 'guard:warning' ? [(event as CronlatchEvents['guard:warning']).message] : [],
  );
  assert.deepEqual(warnings, ['Could not start the overdue runs: the standby function failed.']);
});

void test("an instance on standby is not elected for node-cron's distributed tasks", async () => {
  const { guard, runStore } = guardOfRuns();
  const skips = skipsOf(guard);
  const coordinator = new LedgerRunCoordinator({ guard });
  const key = 'report:2026-11-20T03:00:00.000Z';
  const inserts = mock.method(runStore, 'insert');
  guard.standby(true);
  assert.equal(await coordinator.shouldRun(key), false);
  assert.deepEqual([skips, inserts.mock.callCount()], [[['report', 'standby', false]], 0]);
  guard.standby(() => {
    throw new Error('no flags');
  });
  await assert.rejects(coordinator.shouldRun(key), InvalidLockConfigurationError);
  guard.standby(false);
  assert.equal(await coordinator.shouldRun(key), true);
  await guard.close({ timeout: 0 });
});

void test('the locks of the lock manager are not affected, because they belong to no job', async () => {
  const { guard } = guardOfRuns();
  guard.standby(true);
  const lock = await guard.lockManager().tryLock(JOB);
  assert.equal(await lock?.unlock(), true);
});
