// More of this subject: guard/switches.test.ts
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { configureJobGuard, OncePerDay, SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { guardBench } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';

const never = (): never => assert.fail('ran');

afterEach(() => configureJobGuard(undefined));

void test('a value that is neither a boolean nor a function is rejected at once', () => {
  const enabled = 'false' as unknown as boolean;
  const message = `enabled of job 'job' is "false": it must be a boolean, or a function that returns one.`;
  assert.throws(() => guardBench().guard.check({ ...JOB, enabled }), { message });
  assert.throws(() => SchedulerLock({ ...JOB, enabled }), { message });
  assert.throws(() => OncePerDay({ name: 'job', timeZone: 'UTC', enabled }), { message });
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
  const skips: (readonly [name: string, reason: string])[] = [];
  guard.on('lock:skipped', ({ name, reason }) => void skips.push([name, reason]));
  configureJobGuard(guard);
  scheduleJobs(jobs, { guard });
  for (const job of [() => jobs.lock(), () => jobs.period(), () => jobs.both()]) await job();
  await guard.close();
  assert.deepEqual(skips, [
    ['lock', 'disabled'],
    ['period', 'disabled'],
    ['both', 'disabled'],
  ]);
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
