/** The option `enabled` of a job, and that of a guard. */
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import {
  configureJobGuard,
  InvalidLockConfigurationError,
  JobGuard,
  OncePerDay,
  SchedulerLock,
  type CronlatchEvents,
  type GuardConfiguration,
} from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { eventsOf, guardBench } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';
import { electorOf } from '../support/jobs/coordinators';

type Enabled = boolean | (() => boolean);

/** Sets the option. @returns what each job of the guard needs */
const OWNERS: Readonly<
  Record<'job' | 'guard', (guard: JobGuard, enabled: Enabled) => Pick<GuardConfiguration, 'enabled'>>
> = {
  job: (_, enabled) => ({ enabled }),
  guard(guard, enabled) {
    guard.enable(enabled);
    return {};
  },
};

const never = (): never => assert.fail('ran');
const broken = (): never => {
  throw new Error('no flags');
};
const DISABLED = { executed: false, reason: 'disabled' };
const NOTHING = { started: 0, overdue: 0 };

afterEach(() => configureJobGuard(undefined));

for (const [owner, turn] of Object.entries(OWNERS)) {
  void test(`a disabled ${owner} runs nothing and sends nothing to the database, and events report each skip`, async () => {
    const { guard, names, lines, accessor } = guardBench();
    const skips = eventsOf(guard, 'lock:skipped');
    const ticks: string[] = [];
    guard.on('tick', (tick) => void ticks.push(`${tick.outcome}: ${tick.reason}`));
    const options = turn(guard, false);
    class Jobs {
      @SchedulerLock({ name: 'decorated', lockAtMostFor: '1m', ...options })
      async decorated(): Promise<void> {
        await Promise.resolve(never());
      }
    }
    configureJobGuard(guard);
    const scheduledAt = new Date();
    assert.deepEqual(await guard.run({ ...JOB, ...options, scheduledAt }, never), DISABLED);
    assert.equal(await guard.wrap({ ...JOB, ...options, name: 'wrapped' }, never)(), undefined);
    await new Jobs().decorated();
    const unheld = { reason: 'disabled', willRetry: false, heldBy: undefined, heldUntil: undefined };
    assert.deepEqual(skips, [
      { name: 'job', job: 'job', scheduledAt, ...unheld },
      { name: 'wrapped', job: 'wrapped', scheduledAt: undefined, ...unheld },
      { name: 'decorated', job: 'decorated', scheduledAt: undefined, ...unheld },
    ]);
    assert.deepEqual(ticks, Array(3).fill('skipped: disabled'));
    assert.deepEqual([names().includes('lock:acquired'), lines, accessor.calls], [false, [], []]);
  });

  void test(`the function of a ${owner} is called for each tick, and a run that has started goes on`, async () => {
    const { guard } = guardBench();
    let isEnabled = false;
    const tick = guard.wrap({ ...JOB, ...turn(guard, () => isEnabled) }, () => {
      isEnabled = false;
      return 'ran';
    });
    assert.equal(await tick(), undefined);
    isEnabled = true;
    assert.equal(await tick(), 'ran');
    assert.equal(await tick(), undefined);
  });

  for (const [how, enabled, message] of [
    ['throws', broken, 'threw an error'],
    ['returns a promise', () => Promise.resolve(true), 'returned Promise.*'],
    ['returns nothing', () => undefined, 'returned undefined'],
  ] as const)
    void test(`if the function of a ${owner} ${how}, the job does not run, and the error is reported`, async () => {
      const { guard, emitted } = guardBench();
      const configuration = { ...JOB, ...turn(guard, enabled as () => boolean) };
      await assert.rejects(guard.run(configuration, never), {
        name: 'InvalidLockConfigurationError',
        message: new RegExp(
          `^enabled of (job 'job'|the guard) ${message}, so the job did not run\\. It must return true or false\\.$`,
        ),
        ...(how === 'throws' ? { cause: new Error('no flags') } : {}),
      });
      const [[name, event] = []] = emitted;
      assert.equal(name, 'lock:failed');
      const { willRetry, error } = event as CronlatchEvents['lock:failed'];
      assert.deepEqual([willRetry, error instanceof InvalidLockConfigurationError], [false, true]);
    });

  void test(`overdue runs of a disabled ${owner} send nothing to the database, and wait`, async () => {
    const { guard, runStore, clock } = guardOfRuns();
    let [isEnabled, fails] = [true, true];
    const tick = guard.wrap({ ...DAILY, ...turn(guard, () => isEnabled) }, () => {
      if (fails) throw new Error('no bank today');
    });
    const skips = eventsOf(guard, 'lock:skipped');
    await tick();
    [isEnabled, fails] = [false, false];
    clock.advance('10m');
    const reads = [mock.method(runStore, 'overdue'), mock.method(runStore, 'peek')];
    await tick();
    assert.deepEqual(await guard.runOverdue(), NOTHING);
    assert.deepEqual(
      reads.map((read) => read.mock.callCount()),
      [0, 0],
    );
    assert.deepEqual(
      skips.map(({ reason, willRetry }) => [reason, willRetry]),
      [['disabled', false]],
    );
    assert.equal((await guard.ledger.last('close-day'))?.state, 'failed');
    isEnabled = true;
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    assert.equal((await guard.ledger.last('close-day'))?.state, 'completed');
  });

  void test(`a tick of a disabled ${owner} leaves nothing to retry, but an unanswered one waits`, async () => {
    const { guard, other } = guardOfRuns();
    let isEnabled = false;
    let runs = 0;
    const tick = guard.wrap({ ...DAILY, ...turn(guard, () => isEnabled) }, () => void (runs += 1));
    await tick();
    isEnabled = true;
    assert.deepEqual(await guard.runOverdue(), NOTHING);
    const held = await other.lock(DAILY);
    await tick();
    await held?.unlock();
    isEnabled = false;
    assert.deepEqual(await guard.runOverdue(), NOTHING);
    isEnabled = true;
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    assert.equal(runs, 1);
  });

  void test(`dropped ticks of a disabled ${owner} are skipped, and not kept`, async () => {
    const { guard } = guardOfRuns();
    const skips = eventsOf(guard, 'lock:skipped');
    let isEnabled = false;
    const calls = callsOf(guard);
    const configuration = { ...DAILY, ...turn(guard, () => isEnabled) };
    const job = calls.admitOne({ place: 'a test', configuration, call: () => never });
    calls.dropTicks(job, [new Date()], new Error('dropped'));
    isEnabled = true;
    assert.deepEqual(await guard.runOverdue(), NOTHING);
    assert.deepEqual(
      skips.map((skip) => [skip.name, skip.reason, skip.willRetry]),
      [['close-day', 'disabled', false]],
    );
  });
}

void test('a value that is neither a boolean nor a function is rejected at once, and standby names its successor', () => {
  const { guard, provider: lockProvider } = guardBench();
  const enabled = 'false' as unknown as boolean;
  const message =
    /^enabled of (job 'job'|the guard) is "false": it must be a boolean, or a function that returns one\.$/;
  for (const pass of [
    () => guard.check({ ...JOB, enabled }),
    () => SchedulerLock({ ...JOB, enabled }),
    () => OncePerDay({ name: 'job', timeZone: 'UTC', enabled }),
    () => guard.enable(enabled),
    () => new JobGuard({ lockProvider, enabled }),
  ])
    assert.throws(pass, { name: 'InvalidLockConfigurationError', message });
  const standby = { lockProvider, standby: true };
  assert.throws(() => new JobGuard(standby), {
    name: 'InvalidLockConfigurationError',
    message: 'The option standby is gone: use enabled, with the opposite value.',
  });
  assert.throws(() => guard.standby(), {
    name: 'InvalidLockUseError',
    message: 'guard.standby is gone. Use guard.enable.',
  });
});

void test('a guard can start disabled', async () => {
  const { guard } = guardOfRuns({ enabled: false });
  assert.deepEqual(await guard.run(JOB, never), DISABLED);
  guard.enable(true);
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
});

void test('if a function fails, the check for overdue runs warns, once for a guard, and starts those of other jobs', async () => {
  const { guard, emitted, clock } = guardOfRuns();
  let fails = true;
  guard.wrap({ ...DAILY, name: 'broken', enabled: broken }, never);
  const tick = guard.wrap(DAILY, () => {
    if (fails) throw new Error('no bank today');
  });
  await tick();
  fails = false;
  clock.advance('10m');
  guard.enable(broken);
  assert.deepEqual(await guard.runOverdue(), NOTHING);
  guard.enable(true);
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(
    emitted.flatMap(([name, event]) =>
      name === 'guard:warning' ? [(event as CronlatchEvents['guard:warning']).message] : [],
    ),
    [
      'Could not start the overdue runs: the enabled function of the guard failed.',
      "Could not start the overdue runs of job 'broken': its enabled function failed.",
    ],
  );
});

void test("a disabled instance is not elected for node-cron's distributed tasks", async () => {
  const { guard, runStore } = guardOfRuns({ enabled: false });
  const skips = eventsOf(guard, 'lock:skipped');
  const { asks } = electorOf(guard);
  const inserts = mock.method(runStore, 'insert');
  assert.equal(await asks(), false);
  assert.deepEqual(
    [skips.map(({ name, reason }) => [name, reason]), inserts.mock.callCount()],
    [[['settle', 'disabled']], 0],
  );
  guard.enable(broken);
  await assert.rejects(asks(), InvalidLockConfigurationError);
  guard.enable(true);
  assert.equal(await asks(), true);
  await guard.close({ timeout: 0 });
});

void test('the locks of the lock manager are not affected, because they belong to no job', async () => {
  const { guard } = guardOfRuns({ enabled: false });
  const lock = await guard.lockManager().tryLock(JOB);
  assert.equal(await lock?.unlock(), true);
});

// Decorated last, because the guards above have no ledger.
for (const [owner, turn] of Object.entries(OWNERS))
  void test(`a call from inside a run goes on in a ${owner} that has been disabled meanwhile`, async () => {
    const { guard } = guardOfRuns();
    let isEnabled = true;
    const options = turn(guard, () => isEnabled);
    class Jobs {
      depth = 0;
      @OncePerDay({ name: 'nested', timeZone: 'UTC', ...options })
      @SchedulerLock('nested', '1m')
      async nested(): Promise<number | undefined> {
        isEnabled = false;
        this.depth += 1;
        return this.depth < 2 ? await this.nested() : this.depth;
      }
    }
    configureJobGuard(guard);
    assert.equal(await new Jobs().nested(), 2);
  });

void test('both decorators take the option, and contradicting values are refused', async () => {
  const { guard } = guardOfRuns({ defaultLockAtMostFor: '1m' });
  class Jobs {
    @SchedulerLock({ name: 'lock', enabled: false })
    async lock(): Promise<void> {
      await Promise.resolve(never());
    }
    @OncePerDay({ name: 'period', timeZone: 'UTC', enabled: false })
    async period(): Promise<void> {
      await Promise.resolve(never());
    }
    @Scheduled('0 3 * * *', { timeZone: 'UTC' })
    @OncePerDay({ timeZone: 'UTC', enabled: false })
    @SchedulerLock('both')
    async both(): Promise<void> {
      await Promise.resolve(never());
    }
  }
  const jobs = new Jobs();
  const skips = eventsOf(guard, 'lock:skipped');
  configureJobGuard(guard);
  scheduleJobs(jobs, { guard });
  for (const job of [() => jobs.lock(), () => jobs.period(), () => jobs.both()]) await job();
  await guard.close();
  assert.deepEqual(
    skips.map(({ name, reason }) => `${name} ${reason}`),
    ['lock disabled', 'period disabled', 'both disabled'],
  );
  assert.throws(
    () => {
      class Twice {
        @OncePerDay({ timeZone: 'UTC', enabled: false })
        @SchedulerLock({ name: 'twice', enabled: true })
        async job(): Promise<void> {}
      }
      return Twice;
    },
    { message: "Method 'job' sets enabled twice, with different values. Keep one." },
  );
});
