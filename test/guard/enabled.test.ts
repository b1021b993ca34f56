import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import {
  configureJobGuard,
  InvalidLockConfigurationError,
  OncePerDay,
  SchedulerLock,
  type CronlatchEvents,
  type JobGuard,
} from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { guardBench } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';

const never = (): never => assert.fail('ran');
const DISABLED = { executed: false, reason: 'disabled' };

function skipsOf(guard: JobGuard): CronlatchEvents['lock:skipped'][] {
  const skips: CronlatchEvents['lock:skipped'][] = [];
  guard.on('lock:skipped', (event) => void skips.push(event));
  return skips;
}

afterEach(() => configureJobGuard(undefined));

void test('a disabled job does not run, sends nothing to the database, and an event reports the skip', async () => {
  const { guard, names, lines, accessor } = guardBench();
  const skips = skipsOf(guard);
  const scheduledAt = new Date();
  assert.deepEqual(await guard.run({ ...JOB, enabled: false, scheduledAt }, never), DISABLED);
  assert.deepEqual(skips, [
    {
      name: 'job',
      job: 'job',
      scheduledAt,
      willRetry: false,
      reason: 'disabled',
      heldBy: undefined,
      heldUntil: undefined,
    },
  ]);
  assert.deepEqual([names(), lines, accessor.calls], [['lock:skipped'], [], []]);
  assert.equal(await guard.wrap({ ...JOB, enabled: () => false }, never)(), undefined);
});

void test('a function is called for each tick', async () => {
  const { guard } = guardBench();
  let isEnabled = false;
  const tick = guard.wrap({ ...JOB, enabled: () => isEnabled }, () => 'ran');
  assert.equal(await tick(), undefined);
  isEnabled = true;
  assert.equal(await tick(), 'ran');
  isEnabled = false;
  assert.equal(await tick(), undefined);
});

for (const [what, enabled, message] of [
  [
    'throws',
    () => {
      throw new Error('no flags');
    },
    /^enabled of job 'job' threw an error, so the job did not run\./,
  ],
  [
    'returns a promise',
    async () => Promise.resolve(true),
    /^enabled of job 'job' returned Promise.*, so the job did not run\. It must return true or false\.$/,
  ],
  ['returns nothing', () => undefined, /^enabled of job 'job' returned undefined/],
] as const) {
  void test(`if the function ${what}, the job does not run, and the error is reported`, async () => {
    const { guard, emitted } = guardBench();
    const job = { ...JOB, enabled: enabled as () => boolean };
    await assert.rejects(guard.run(job, never), { name: 'InvalidLockConfigurationError', message });
    const [[name, event] = []] = emitted;
    assert.equal(name, 'lock:failed');
    assert.deepEqual((event as CronlatchEvents['lock:failed']).willRetry, false);
    assert.ok((event as CronlatchEvents['lock:failed']).error instanceof InvalidLockConfigurationError);
  });
}

void test('the error of a function that throws keeps its cause', async () => {
  const cause = new Error('no flags');
  const enabled = (): boolean => {
    throw cause;
  };
  await assert.rejects(guardBench().guard.run({ ...JOB, enabled }, never), { cause });
});

void test('a value that is neither a boolean nor a function is rejected at once', () => {
  const enabled = 'false' as unknown as boolean;
  const message = `enabled of job 'job' is "false": it must be a boolean, or a function that returns one.`;
  assert.throws(() => guardBench().guard.check({ ...JOB, enabled }), { message });
  assert.throws(() => SchedulerLock({ ...JOB, enabled }), { message });
  assert.throws(() => OncePerDay({ name: 'job', timeZone: 'UTC', enabled }), { message });
});

void test('a tick of a disabled once-per job is not retried, and overdue runs wait until the job is enabled', async () => {
  const bench = guardOfRuns();
  const { guard, clock } = bench;
  let isEnabled = true;
  let fails = true;
  const tick = guard.wrap({ ...DAILY, enabled: () => isEnabled }, () => {
    if (fails) throw new Error('no bank today');
    return 'closed';
  });
  const skips = skipsOf(guard);
  await tick();
  [isEnabled, fails] = [false, false];
  clock.advance('10m');
  assert.equal(await tick(), undefined);
  assert.deepEqual(
    skips.map(({ reason, willRetry }) => [reason, willRetry]),
    [['disabled', false]],
  );
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.equal((await guard.ledger.last('close-day'))?.state, 'failed');
  isEnabled = true;
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.equal((await guard.ledger.last('close-day'))?.state, 'completed');
});

void test('a tick that was skipped because the job was disabled leaves nothing to retry when it is enabled', async () => {
  const { guard } = guardOfRuns();
  let isEnabled = false;
  const tick = guard.wrap({ ...DAILY, enabled: () => isEnabled }, never);
  await tick();
  isEnabled = true;
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
});

void test('an unanswered tick waits while its job is disabled', async () => {
  const { guard, other } = guardOfRuns();
  let isEnabled = true;
  let runs = 0;
  const tick = guard.wrap({ ...DAILY, enabled: () => isEnabled }, () => void (runs += 1));
  const held = await other.lock(DAILY);
  await tick();
  await held?.unlock();
  isEnabled = false;
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  isEnabled = true;
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.equal(runs, 1);
});

void test('a disabled once-per job sends nothing to the database, at its ticks and in the check for overdue runs', async () => {
  const { guard, runStore } = guardOfRuns();
  const reads = mock.method(runStore, 'overdue');
  const tick = guard.wrap({ ...DAILY, enabled: false }, never);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  const peeks = mock.method(runStore, 'peek');
  await tick();
  assert.deepEqual([reads.mock.callCount(), peeks.mock.callCount()], [0, 0]);
});

void test('if the function fails, the check for overdue runs warns, and starts those of other jobs', async () => {
  const { guard, emitted, clock } = guardOfRuns();
  let fails = true;
  const broken = (): boolean => {
    throw new Error('no flags');
  };
  guard.wrap({ ...DAILY, name: 'broken', enabled: broken }, never);
  const tick = guard.wrap(DAILY, () => {
    if (fails) throw new Error('no bank today');
  });
  await tick();
  fails = false;
  clock.advance('10m');
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  const warnings = emitted.flatMap(([name, event]) => (name === 'guard:warning' ? [event] : []));
  assert.equal(warnings.length, 1);
  assert.match(
    (warnings as CronlatchEvents['guard:warning'][])[0]?.message ?? '',
    /overdue runs of job 'broken'/,
  );
});

void test('a run that has started is not cut short when its job is disabled', async () => {
  const { guard } = guardOfRuns();
  let isEnabled = true;
  class Jobs {
    depth = 0;
    @OncePerDay({ name: 'nested', timeZone: 'UTC', enabled: () => isEnabled })
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

void test('a dropped tick of a disabled job is skipped, and not kept', () => {
  const { guard } = guardOfRuns();
  const skips = skipsOf(guard);
  const integration = callsOf(guard);
  const job = integration.admitOne({
    place: 'a test',
    configuration: { ...DAILY, enabled: false },
    call: () => never,
  });
  integration.dropTicks(job, [new Date()], new Error('dropped'));
  assert.deepEqual(
    skips.map(({ reason }) => reason),
    ['disabled'],
  );
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
  const skips = skipsOf(guard);
  configureJobGuard(guard);
  scheduleJobs(jobs, { guard });
  for (const job of [() => jobs.lock(), () => jobs.period(), () => jobs.both()]) await job();
  await guard.close();
  assert.deepEqual(
    skips.map(({ name, reason }) => [name, reason]),
    [
      ['lock', 'disabled'],
      ['period', 'disabled'],
      ['both', 'disabled'],
    ],
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
