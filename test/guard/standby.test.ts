import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import {
  configureJobGuard,
  InvalidLockConfigurationError,
  JobGuard,
  OncePerDay,
  SchedulerLock,
  type CronlatchEvents,
} from 'cronlatch';
import { LedgerRunCoordinator } from 'cronlatch/node-cron';
import { callsOf } from '#cronlatch/guard/calls/calls';
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

afterEach(() => configureJobGuard(undefined));

void test('an instance on standby runs no job, sends nothing to the database, and events report each skip', async () => {
  const { guard, names, lines, accessor } = guardBench();
  const skips = skipsOf(guard);
  const ticks: (string | undefined)[] = [];
  guard.on('tick', ({ outcome, reason }) => void ticks.push(`${outcome}: ${reason}`));
  class Jobs {
    @SchedulerLock('decorated', '1m')
    async decorated(): Promise<void> {
      await Promise.resolve(never());
    }
  }
  configureJobGuard(guard);
  guard.standby(true);
  assert.deepEqual(await guard.run(JOB, never), STANDBY);
  assert.equal(await guard.wrap({ ...JOB, name: 'wrapped' }, never)(), undefined);
  await new Jobs().decorated();
  assert.deepEqual(skips, [
    ['job', 'standby', false],
    ['wrapped', 'standby', false],
    ['decorated', 'standby', false],
  ]);
  assert.deepEqual(ticks, ['skipped: standby', 'skipped: standby', 'skipped: standby']);
  assert.deepEqual([names().includes('lock:acquired'), lines, accessor.calls], [false, [], []]);
});

void test('the end of standby takes effect with the next tick, and a run that has started goes on', async () => {
  const { guard } = guardBench();
  guard.standby(true);
  const tick = guard.wrap(JOB, () => {
    guard.standby(true);
    return 'ran';
  });
  assert.equal(await tick(), undefined);
  guard.standby(false);
  assert.equal(await tick(), 'ran');
  assert.equal(await tick(), undefined);
});

void test('a function is called for each tick', async () => {
  const { guard } = guardBench();
  let isActive = false;
  guard.standby(() => !isActive);
  const tick = guard.wrap(JOB, () => 'ran');
  assert.equal(await tick(), undefined);
  isActive = true;
  assert.equal(await tick(), 'ran');
});

for (const [what, standby, message] of [
  [
    'throws',
    () => {
      throw new Error('no flags');
    },
    /^standby of the guard threw an error, so the job did not run\. It must return true or false\.$/,
  ],
  ['returns a promise', () => Promise.resolve(true), /^standby of the guard returned Promise/],
] as const) {
  void test(`if the function ${what}, no job runs, and the error is reported`, async () => {
    const { guard, emitted } = guardBench();
    guard.standby(standby as unknown as () => boolean);
    await assert.rejects(guard.run(JOB, never), { name: 'InvalidLockConfigurationError', message });
    const [[name, event] = []] = emitted;
    assert.equal(name, 'lock:failed');
    assert.equal((event as CronlatchEvents['lock:failed']).willRetry, false);
    assert.ok((event as CronlatchEvents['lock:failed']).error instanceof InvalidLockConfigurationError);
  });
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

void test('on standby, once-per jobs send nothing to the database, and overdue runs wait for its end', async () => {
  const { guard, runStore, clock } = guardOfRuns();
  let fails = true;
  const tick = guard.wrap(DAILY, () => {
    if (fails) throw new Error('no bank today');
    return 'closed';
  });
  await tick();
  fails = false;
  clock.advance('10m');
  guard.standby(true);
  const [reads, peeks] = [mock.method(runStore, 'overdue'), mock.method(runStore, 'peek')];
  assert.equal(await tick(), undefined);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual([reads.mock.callCount(), peeks.mock.callCount()], [0, 0]);
  guard.standby(false);
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.equal((await guard.ledger.last('close-day'))?.state, 'completed');
});

void test('a tick that was skipped on standby leaves nothing to retry', async () => {
  const { guard } = guardOfRuns();
  guard.standby(true);
  await guard.wrap(DAILY, never)();
  guard.standby(false);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
});

void test('an unanswered tick waits for the end of standby', async () => {
  const { guard, other } = guardOfRuns();
  let runs = 0;
  const tick = guard.wrap(DAILY, () => void (runs += 1));
  const held = await other.lock(DAILY);
  await tick();
  await held?.unlock();
  guard.standby(true);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  guard.standby(false);
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.equal(runs, 1);
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

void test('dropped ticks are skipped on standby, and not kept', async () => {
  const { guard } = guardOfRuns();
  const skips = skipsOf(guard);
  guard.standby(true);
  const integration = callsOf(guard);
  const job = integration.admitOne({ place: 'a test', configuration: DAILY, call: () => never });
  integration.dropTicks(job, [new Date()], new Error('dropped'));
  guard.standby(false);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(skips, [['close-day', 'standby', false]]);
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

void test('a call from inside a run of the same job goes on', async () => {
  const { guard } = guardOfRuns();
  class Jobs {
    depth = 0;
    @OncePerDay({ name: 'nested', timeZone: 'UTC' })
    @SchedulerLock('nested', '1m')
    async nested(): Promise<number | undefined> {
      guard.standby(true);
      this.depth += 1;
      return this.depth < 2 ? await this.nested() : this.depth;
    }
  }
  configureJobGuard(guard);
  assert.equal(await new Jobs().nested(), 2);
});
