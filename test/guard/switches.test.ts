/** What a job that its option `enabled` switches off has in common with a guard on standby. */
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import {
  configureJobGuard,
  InvalidLockConfigurationError,
  OncePerDay,
  SchedulerLock,
  type CronlatchEvents,
  type GuardConfiguration,
  type JobGuard,
} from 'cronlatch';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { guardBench } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';

interface Switch {
  readonly reason: 'disabled' | 'standby';
  /** Begins the message about a function that fails. */
  readonly subject: string;
  /** @returns the options that each job of the guard needs */
  readonly turn: (guard: JobGuard, isOff: () => boolean) => Pick<GuardConfiguration, 'enabled'>;
  /** What a function returns that the guard can use. */
  readonly on: boolean;
}

const SWITCHES: Readonly<Record<string, Switch>> = {
  'a disabled job': {
    reason: 'disabled',
    subject: "enabled of job 'job'",
    turn: (_, isOff) => ({ enabled: () => !isOff() }),
    on: true,
  },
  'an instance on standby': {
    reason: 'standby',
    subject: 'standby of the guard',
    turn(guard, isOff) {
      guard.standby(isOff);
      return {};
    },
    on: false,
  },
};

const never = (): never => assert.fail('ran');
const NOTHING = { started: 0, overdue: 0 };

function skipsOf(guard: JobGuard): CronlatchEvents['lock:skipped'][] {
  const skips: CronlatchEvents['lock:skipped'][] = [];
  guard.on('lock:skipped', (event) => void skips.push(event));
  return skips;
}

afterEach(() => configureJobGuard(undefined));

for (const [what, { reason, subject, turn, on }] of Object.entries(SWITCHES)) {
  void test(`${what} runs nothing and sends nothing to the database, and events report each skip`, async () => {
    const { guard, names, lines, accessor } = guardBench();
    const skips = skipsOf(guard);
    const ticks: string[] = [];
    guard.on('tick', (tick) => void ticks.push(`${tick.outcome}: ${tick.reason}`));
    const options = turn(guard, () => true);
    class Jobs {
      @SchedulerLock({ name: 'decorated', lockAtMostFor: '1m', ...options })
      async decorated(): Promise<void> {
        await Promise.resolve(never());
      }
    }
    configureJobGuard(guard);
    const scheduledAt = new Date();
    const result = await guard.run({ ...JOB, ...options, scheduledAt }, never);
    assert.deepEqual(result, { executed: false, reason });
    assert.equal(await guard.wrap({ ...JOB, ...options, name: 'wrapped' }, never)(), undefined);
    await new Jobs().decorated();
    const unheld = { reason, willRetry: false, heldBy: undefined, heldUntil: undefined };
    assert.deepEqual(skips, [
      { name: 'job', job: 'job', scheduledAt, ...unheld },
      { name: 'wrapped', job: 'wrapped', scheduledAt: undefined, ...unheld },
      { name: 'decorated', job: 'decorated', scheduledAt: undefined, ...unheld },
    ]);
    assert.deepEqual(ticks, Array(3).fill(`skipped: ${reason}`));
    assert.deepEqual([names().includes('lock:acquired'), lines, accessor.calls], [false, [], []]);
  });

  void test(`${what}: its function is called for each tick, and a run that has started goes on`, async () => {
    const { guard } = guardBench();
    let isOff = true;
    const tick = guard.wrap({ ...JOB, ...turn(guard, () => isOff) }, () => {
      isOff = true;
      return 'ran';
    });
    assert.equal(await tick(), undefined);
    isOff = false;
    assert.equal(await tick(), 'ran');
    assert.equal(await tick(), undefined);
  });

  const cause = new Error('no flags');
  const FAILING: Readonly<Record<string, readonly [call: () => unknown, message: string]>> = {
    throws: [
      () => {
        throw cause;
      },
      'threw an error',
    ],
    'returns a promise': [() => Promise.resolve(on), 'returned Promise.*'],
    'returns nothing': [() => undefined, 'returned undefined'],
  };
  for (const [how, [call, message]] of Object.entries(FAILING))
    void test(`${what}: if its function ${how}, the job does not run, and the error is reported`, async () => {
      const { guard, emitted } = guardBench();
      // Both switches use the result as it is, so that the function of the option is that of the test.
      const options =
        reason === 'disabled' ? { enabled: call as () => boolean } : turn(guard, call as () => boolean);
      await assert.rejects(guard.run({ ...JOB, ...options }, never), {
        name: 'InvalidLockConfigurationError',
        message: new RegExp(
          `^${subject} ${message}, so the job did not run\\. It must return true or false\\.$`,
        ),
        ...(how === 'throws' ? { cause } : {}),
      });
      const [[name, event] = []] = emitted;
      assert.equal(name, 'lock:failed');
      const { willRetry, error } = event as CronlatchEvents['lock:failed'];
      assert.deepEqual([willRetry, error instanceof InvalidLockConfigurationError], [false, true]);
    });

  void test(`${what}: once-per jobs send nothing to the database, and overdue runs wait for its end`, async () => {
    const { guard, runStore, clock } = guardOfRuns();
    let [isOff, fails] = [false, true];
    const tick = guard.wrap({ ...DAILY, ...turn(guard, () => isOff) }, () => {
      if (fails) throw new Error('no bank today');
      return 'closed';
    });
    const skips = skipsOf(guard);
    await tick();
    [isOff, fails] = [true, false];
    clock.advance('10m');
    const [reads, peeks] = [mock.method(runStore, 'overdue'), mock.method(runStore, 'peek')];
    assert.equal(await tick(), undefined);
    assert.deepEqual(await guard.runOverdue(), NOTHING);
    assert.deepEqual([reads.mock.callCount(), peeks.mock.callCount()], [0, 0]);
    assert.deepEqual(
      skips.map((skip) => [skip.reason, skip.willRetry]),
      [[reason, false]],
    );
    assert.equal((await guard.ledger.last('close-day'))?.state, 'failed');
    isOff = false;
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    assert.equal((await guard.ledger.last('close-day'))?.state, 'completed');
  });

  void test(`${what}: a tick that was skipped leaves nothing to retry`, async () => {
    const { guard } = guardOfRuns();
    let isOff = true;
    await guard.wrap({ ...DAILY, ...turn(guard, () => isOff) }, never)();
    isOff = false;
    assert.deepEqual(await guard.runOverdue(), NOTHING);
  });

  void test(`${what}: an unanswered tick waits for its end`, async () => {
    const { guard, other } = guardOfRuns();
    let isOff = false;
    let runs = 0;
    const tick = guard.wrap({ ...DAILY, ...turn(guard, () => isOff) }, () => void (runs += 1));
    const held = await other.lock(DAILY);
    await tick();
    await held?.unlock();
    isOff = true;
    assert.deepEqual(await guard.runOverdue(), NOTHING);
    isOff = false;
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    assert.equal(runs, 1);
  });

  void test(`${what}: dropped ticks are skipped, and not kept`, async () => {
    const { guard } = guardOfRuns();
    const skips = skipsOf(guard);
    let isOff = true;
    const calls = callsOf(guard);
    const configuration = { ...DAILY, ...turn(guard, () => isOff) };
    const job = calls.admitOne({ place: 'a test', configuration, call: () => never });
    calls.dropTicks(job, [new Date()], new Error('dropped'));
    isOff = false;
    assert.deepEqual(await guard.runOverdue(), NOTHING);
    assert.deepEqual(
      skips.map((skip) => [skip.name, skip.reason, skip.willRetry]),
      [['close-day', reason, false]],
    );
  });
}

// Decorated last, because the guards above have no ledger.
for (const [what, { turn }] of Object.entries(SWITCHES))
  void test(`${what}: a call from inside a run of the same job goes on`, async () => {
    const { guard } = guardOfRuns();
    let isOff = false;
    const options = turn(guard, () => isOff);
    class Jobs {
      depth = 0;
      @OncePerDay({ name: 'nested', timeZone: 'UTC', ...options })
      @SchedulerLock('nested', '1m')
      async nested(): Promise<number | undefined> {
        isOff = true;
        this.depth += 1;
        return this.depth < 2 ? await this.nested() : this.depth;
      }
    }
    configureJobGuard(guard);
    assert.equal(await new Jobs().nested(), 2);
  });
