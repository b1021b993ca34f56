import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, InvalidLockUseError, LockStorageError } from 'cronlatch';
import { callsOf } from '#cronlatch/guard/calls/calls';
import type { JobDeclaration } from '#cronlatch/guard/jobs/job';
import type { JobRegistration } from '#cronlatch/ledger/job-register';
import type { GuardConfiguration } from 'cronlatch';
import { warningsOf, withoutProcess } from '../support/benches/guard';
import { DAILY, guardOfRuns, type GuardOfRuns } from '../support/benches/guard-of-runs';
import { refusedConnection } from '../support/faults/accessor';
import { newGuard } from '../support/benches/guard-with-runs';
import { operations } from 'cronlatch/operations';
import { readWhy } from '#cronlatch/operations/why';

const HOUR_MS = 3_600_000;
const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const RECORDED = { ...JOB, oncePer: { period: 'tick' } } as const;
const HOURLY = { expression: '0 * * * *', timeZone: 'UTC', dialect: 'croner' } as const;
const SHARED = { ...JOB, shared: true } as const;
const BY_ANNA = { actor: 'anna', reason: 'a test' };

/** A job that is scheduled every full hour. */
function hourly(configuration: GuardConfiguration, more: Partial<JobDeclaration> = {}): JobDeclaration {
  return {
    ...{ place: 'Jobs.run', configuration, call: () => () => 'done' },
    schedules: [HOURLY],
    ...more,
  };
}

/** Schedules a job, and returns a function that delivers a tick at the current time. */
function scheduled(
  { guard, clock }: GuardOfRuns,
  configuration: GuardConfiguration,
  more: Partial<JobDeclaration> = {},
) {
  const integration = callsOf(guard);
  const declaration = hourly(configuration, more);
  const job = integration.admitOne(declaration);
  return async (work: () => unknown = () => 'done') => {
    const task = (): unknown => work();
    const call = { task, args: [], call: () => task, scheduledAt: new Date(clock.wallMs()) };
    return await integration.execute(job, call).catch(() => undefined);
  };
}

/** Begins at a full hour. */
function bench(options: Parameters<typeof guardOfRuns>[0] = {}): GuardOfRuns {
  const made = guardOfRuns(options);
  made.clock.advance(HOUR_MS - (made.clock.wallMs() % HOUR_MS));
  return made;
}

async function registered({ guard }: GuardOfRuns) {
  await guard.runOverdue();
  const [job, ...others] = await guard.ledger.jobs();
  assert.ok(job !== undefined && others.length === 0, 'one job should be registered');
  return job;
}

/** The jobs that are late in an overview. */
async function lateJobs({ guard }: Pick<GuardOfRuns, 'guard'>, lateAfter?: '1h'): Promise<string[]> {
  const { jobs } = await operations(guard).overview({ lateAfter });
  return jobs.filter(({ problems }) => problems.some(({ kind }) => kind === 'late')).map(({ job }) => job);
}

/** How long ago the answered time was, in hours. */
async function answered(of: GuardOfRuns): Promise<number | undefined> {
  const { answeredAt } = await registered(of);
  return answeredAt && (of.clock.wallMs() - answeredAt.getTime()) / HOUR_MS;
}

void test('a scheduled job is registered with what it declares, since when, and its instance', async () => {
  const of = bench();
  const calendar = { isBusinessDay: () => true };
  const retry = { maxAttempts: 5 };
  const oncePer = {
    ...DAILY.oncePer,
    calendar,
    retry,
    dayStart: '04:00',
    onCrash: 'hold',
    scope: 'eu',
  } as const;
  callsOf(of.guard).admit([hourly({ ...DAILY, keepAlive: true, oncePer })]);
  const { job, declared, registeredBy, version, declaredAt } = await registered(of);
  assert.equal(job, 'close-day');
  assert.match(registeredBy, new RegExp(`/${process.pid}$`));
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.equal(declaredAt?.getTime(), of.clock.wallMs());
  assert.deepEqual(declared, {
    ...{
      lock: 'close-day',
      lockAtMostForMs: 600_000,
      lockAtLeastForMs: 0,
      renewEveryMs: 200_000,
      maxLockDurationMs: 86_400_000,
    },
    ...{ kind: 'day', timeZone: 'Europe/Paris', dayStart: '04:00' },
    schedules: [HOURLY],
    retry: { maxAttempts: 5, initialDelayMs: 60_000, factor: 2, maxDelayMs: HOUR_MS },
    onCrash: 'hold',
    catchUp: { catchUp: 'none', windowMs: 7 * 24 * HOUR_MS, limit: 31 },
    ...{ hasCalendar: true, scope: 'eu', hasScopeFunction: false },
  });
});

void test('jobs that are declared one after the other are registered with one statement', async (t) => {
  const of = bench();
  const register = t.mock.method(of.runStore, 'registerJobs');
  for (const name of ['a', 'b', 'c']) of.guard.wrap({ ...DAILY, name }, () => {});
  of.guard.wrap(JOB, () => {}); // Nothing schedules it here, and it keeps no history.
  callsOf(of.guard).admit([hourly({ ...JOB, name: 'd' })]);
  await of.guard.runOverdue();
  assert.equal(register.mock.callCount(), 1);
  assert.deepEqual(
    (await of.guard.ledger.jobs()).map(({ job }) => job),
    ['a', 'b', 'c', 'd'],
  );
});

void test('a job that is added just when the register has ended its work is registered by the next check', async () => {
  for (let turns = 0; turns < 9; turns += 1) {
    const of = bench();
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    scheduled(of, DAILY);
    assert.equal((await registered(of)).job, DAILY.name);
  }
});

void test('a tick sends no statement to the register', async (t) => {
  const of = bench();
  const tick = scheduled(of, JOB);
  const once = scheduled(of, { ...DAILY, name: 'daily' });
  await of.guard.runOverdue();
  const calls = (['registerJobs', 'jobs', 'answerJobs'] as const).map((name) =>
    t.mock.method(of.runStore, name),
  );
  of.clock.advance(HOUR_MS);
  await tick();
  await once();
  assert.deepEqual(
    calls.map(({ mock }) => mock.callCount()),
    [0, 0, 0],
  );
  await of.guard.runOverdue();
  assert.deepEqual(
    calls.map(({ mock }) => mock.callCount()),
    [1, 1, 1], // An hour has passed, so the job is registered again.
  );
});

void test('the poll writes the time of a tick that completed, failed or was refused', async () => {
  const of = bench();
  const tick = scheduled(of, JOB);
  assert.equal(await answered(of), undefined);
  for (const work of [() => 'done', () => assert.fail('fails')]) {
    of.clock.advance(HOUR_MS);
    await tick(work);
    assert.equal(await answered(of), 0);
  }
  of.clock.advance(HOUR_MS);
  const other = await of.other.lock(JOB);
  await tick();
  assert.equal(await answered(of), 0);
  await other?.unlock();
});

void test('a call without a scheduled time answers all times before it', async () => {
  const of = bench();
  const job = of.guard.wrap(JOB, () => {}, { schedule: HOURLY });
  of.clock.advance('3h');
  await job();
  of.clock.advance('1h');
  assert.equal(await answered(of), 1);
});

void test('a disabled job, a closing guard and a failed lock leave the tick unanswered', async () => {
  const of = bench();
  let isEnabled = false;
  const tick = scheduled(of, { ...JOB, enabled: () => isEnabled });
  await registered(of);
  of.clock.advance(HOUR_MS);
  await tick();
  isEnabled = true;
  of.accessor.fail('insertRecord', refusedConnection);
  await tick();
  assert.equal(await answered(of), undefined);
});

void test('a tick of a once-per job is not answered while its lock is held or its calendar fails', async () => {
  const of = bench();
  let isAway = true;
  const isBusinessDay = (): boolean => (isAway ? assert.fail('away') : false);
  const tick = scheduled(of, { ...DAILY, oncePer: { ...DAILY.oncePer, calendar: { isBusinessDay } } });
  await registered(of);
  of.clock.advance(HOUR_MS);
  await tick();
  isAway = false;
  const held = await of.other.lock({ name: DAILY.name, lockAtMostFor: '1h' });
  await tick();
  assert.equal(await answered(of), undefined);
  await held?.unlock();
  await tick();
  const [run] = await of.guard.ledger.list({ job: DAILY.name });
  assert.deepEqual([run?.state, run?.reason, await lateJobs(of)], ['skipped', 'calendar', []]);
});

void test('closing the guard writes the last answer', async () => {
  const of = bench();
  const tick = scheduled(of, JOB);
  await registered(of);
  of.clock.advance(HOUR_MS);
  await tick();
  await of.guard.close();
  const { jobs } = await of.runStore.jobs();
  assert.equal(jobs[0]?.answeredAt?.getTime(), of.clock.wallMs());
});

void test('a job whose tick no instance answers is late, and each time is reported once', async () => {
  const of = bench();
  const reported: string[] = [];
  of.guard.on('job:late', ({ job, scheduledAt }) => void reported.push(`${job} ${scheduledAt.getTime()}`));
  // Nothing is made up here.
  scheduled(of, DAILY, { isReady: () => false });
  const first = Number((await registered(of)).declaredAt) + HOUR_MS;
  of.clock.advance(HOUR_MS + 299_000);
  assert.deepEqual(await lateJobs(of), []);
  await of.guard.runOverdue();
  assert.deepEqual(reported, []);
  of.clock.advance('2s');
  await of.guard.runOverdue();
  await of.guard.runOverdue();
  assert.deepEqual(reported, [`close-day ${first}`]);
  assert.deepEqual(await lateJobs(of), ['close-day']);
  assert.deepEqual(await lateJobs(of, '1h'), []);
});

void test('an instance that answers no tick reports each scheduled time that other instances miss', async () => {
  const of = bench();
  const reported: number[] = [];
  of.guard.on('job:late', ({ scheduledAt }) => void reported.push(scheduledAt.getTime()));
  scheduled(of, RECORDED);
  const first = Number((await registered(of)).declaredAt) + HOUR_MS;
  of.clock.advance('90m');
  await of.guard.runOverdue();
  await of.runStore.answerJobs([{ job: JOB.name, answeredAt: new Date(first) }]);
  of.clock.advance('1h');
  await of.guard.runOverdue();
  await of.guard.runOverdue();
  assert.deepEqual(reported, [first, first + HOUR_MS]);
});

void test('a job that all instances declare as disabled is never late, and is so again once it is enabled', async () => {
  const of = bench();
  of.guard.on('job:late', () => assert.fail('late'));
  scheduled(of, { ...DAILY, enabled: false });
  assert.equal((await registered(of)).declared.disabled, 'job');
  of.clock.advance('30h');
  await of.guard.runOverdue();
  assert.deepEqual(await lateJobs(of), []);
  const enabled = bench(of.options());
  scheduled(enabled, DAILY);
  await registered(enabled);
  assert.deepEqual(await lateJobs(enabled), []);
  of.clock.advance('2h');
  assert.equal((await lateJobs(enabled)).length, 1);
});

void test('an instance that disables a job does not silence it for the others', async () => {
  const of = bench();
  scheduled(of, DAILY);
  await registered(of);
  const disabling = bench({ ...of.options(), events: undefined, instanceName: 'green' });
  const warnings = warningsOf(disabling.events);
  scheduled(disabling, { ...DAILY, enabled: false });
  assert.equal((await registered(disabling)).declared.disabled, 'job');
  of.clock.advance('5m');
  assert.equal((await registered(of)).declared.disabled, undefined);
  of.clock.advance('14m');
  assert.equal((await registered(disabling)).declared.disabled, undefined);
  of.clock.advance('2m'); // The other instance has ended.
  assert.equal((await registered(disabling)).declared.disabled, 'job');
  assert.deepEqual(warnings, []);
});

void test('two jobs that share a lock are disabled only if both are', async () => {
  for (const second of [false, true]) {
    const of = bench();
    const jobs = [false, second].map((enabled) => hourly({ ...SHARED, enabled }));
    callsOf(of.guard).admit(jobs);
    assert.equal((await registered(of)).declared.disabled, second ? undefined : 'job');
  }
});

void test('an instance registers its jobs again every two minutes, so that no operator forgets them', async (t) => {
  const of = bench();
  scheduled(of, DAILY);
  const first = await registered(of);
  const register = t.mock.method(of.runStore, 'registerJobs');
  of.clock.advance('1m');
  await of.guard.runOverdue();
  assert.equal(register.mock.callCount(), 0);
  of.clock.advance('1m');
  const again = await registered(of);
  assert.equal(Number(again.registeredAt) - Number(first.registeredAt), 120_000);
  assert.deepEqual(again, { ...first, registeredAt: again.registeredAt });
  of.clock.advance('14m');
  await assert.rejects(operations(of.guard).forget({ job: DAILY.name }, BY_ANNA), {
    code: InvalidLockUseError.code,
    message: /^Cannot forget job 'close-day': .+\/\d+ has registered it within the last 15 minutes\. /,
  });
  of.clock.advance('2m');
  await operations(of.guard).forget({ job: DAILY.name }, BY_ANNA);
  assert.deepEqual(await of.guard.ledger.jobs(), []);
  await assert.rejects(
    operations(of.guard).forget({ job: DAILY.name }, BY_ANNA),
    /'close-day': it is not registered\.$/,
  );
  await registered(of);
});

void test('the declaration of another instance stays while that instance registers it', async (t) => {
  const of = bench();
  scheduled(of, DAILY);
  const { declared } = await registered(of);
  const other: JobRegistration = {
    ...{ job: 'close-day', version: '1.0.0', registeredBy: 'green/7' },
    declared: { ...declared, dayStart: '02:00' },
  };
  await of.runStore.registerJobs([other]);
  const register = t.mock.method(of.runStore, 'registerJobs');
  for (const minutes of [5, 9]) {
    of.clock.advance(minutes * 60_000);
    assert.equal((await registered(of)).registeredBy, 'green/7');
  }
  assert.equal(register.mock.callCount(), 0);
  of.clock.advance('5m');
  assert.deepEqual((await registered(of)).declared, declared);
});

void test('a late job is a log line', async () => {
  const lines: string[] = [];
  const of = bench({ logger: { warn: (line) => void lines.push(withoutProcess(line)), error: assert.fail } });
  scheduled(of, { ...DAILY, oncePer: { ...DAILY.oncePer, name: 'daily' } });
  await registered(of);
  of.clock.advance('119m');
  await of.guard.runOverdue();
  const at = new Date(of.clock.wallMs() - 59 * 60_000).toISOString();
  assert.deepEqual(lines, [
    `cronlatch job:late: job 'daily' is late (scheduled at ${at}); no instance has answered this tick.`,
  ]);
});

void test('a tick that another instance has answered is not late', async () => {
  const of = bench();
  of.guard.on('job:late', () => assert.fail('late'));
  scheduled(of, JOB);
  await registered(of);
  of.clock.advance('119m');
  await of.runStore.answerJobs([{ job: JOB.name, answeredAt: new Date(of.clock.wallMs() - 59 * 60_000) }]);
  await of.guard.runOverdue();
  assert.deepEqual(await lateJobs(of), []);
});

void test('a job that has only a lock is not late while another instance runs it, but when that has crashed', async () => {
  const of = bench();
  const reported: string[] = [];
  of.guard.on('job:late', ({ job }) => void reported.push(job));
  scheduled(of, JOB);
  await registered(of);
  of.clock.advance('1h');
  assert.ok(await of.other.lock({ name: JOB.name, lockAtMostFor: '2h' }));
  of.clock.advance('1h');
  await of.guard.runOverdue();
  assert.deepEqual([reported, await lateJobs(of)], [[], []]);
  of.clock.advance('90m');
  await of.guard.runOverdue();
  assert.deepEqual([reported, await lateJobs(of)], [[JOB.name], [JOB.name]]);
});

void test('a job is not late while an operator has paused its lock, but when the pause has ended', async () => {
  const of = bench();
  const reported: string[] = [];
  of.guard.on('job:late', ({ job }) => void reported.push(job));
  scheduled(of, DAILY);
  await registered(of);
  await operations(of.guard).pause({ lock: DAILY.name }, { ...BY_ANNA, until: '9h' });
  of.clock.advance('2h');
  await of.guard.runOverdue();
  assert.deepEqual([reported, await lateJobs(of)], [[], []]);
  await operations(of.guard).resume({ lock: DAILY.name }, BY_ANNA);
  await of.guard.runOverdue();
  assert.deepEqual([reported, await lateJobs(of)], [[DAILY.name], [DAILY.name]]);
});

void test('a job that is called every so often is late if it was not called for longer', async () => {
  const of = bench();
  of.guard.wrap(JOB, () => {}, { schedule: { every: 60_000 } });
  await registered(of);
  of.clock.advance('6m');
  await of.guard.runOverdue();
  assert.deepEqual(await lateJobs(of), [JOB.name]);
  await of.runStore.answerJobs([{ job: JOB.name, answeredAt: new Date(of.clock.wallMs()) }]);
  of.clock.advance('5m');
  assert.deepEqual(await lateJobs(of), []);
});

void test('a run of the ledger answers its tick, also if its instance crashed before the poll', async () => {
  const of = bench();
  of.guard.on('job:late', () => assert.fail('late'));
  scheduled(of, DAILY);
  await registered(of);
  of.clock.advance('2h');
  const crashed = newGuard({ ...of.options(), events: undefined, logger: false });
  await crashed.run(DAILY, () => 'done');
  await of.guard.runOverdue();
  assert.deepEqual(await lateJobs(of), []);
});

void test('a declaration that differs from that of another instance is reported once, with its fields', async () => {
  const of = bench();
  const warnings = warningsOf(of.events);
  scheduled(of, DAILY);
  const { declared } = await registered(of);
  assert.deepEqual(warnings, []);
  const other: JobRegistration = {
    ...{ job: 'close-day', version: '1.0.0', registeredBy: 'blue/7' },
    declared: { ...declared, timeZone: 'UTC', onCrash: 'hold' },
  };
  await of.runStore.registerJobs([other]);
  const { registeredAt } = await registered(of);
  const green = bench({ ...of.options() });
  scheduled(green, DAILY);
  await registered(green);
  assert.equal(warnings.length, 1);
  assert.equal(
    warnings[0],
    `Job 'close-day' is declared differently than by blue/7, which registered it at ${registeredAt.toISOString()}: timeZone (there "UTC", here "Europe/Paris"), onCrash (there "hold", here "retry"). If that instance is still running, deploy the same version to both.`,
  );
});

void test('two dialects that read an expression with both days otherwise are named with their readings', async () => {
  const of = bench();
  const warnings = warningsOf(of.events);
  const first = { ...HOURLY, expression: '0 3 1 * 1' };
  callsOf(of.guard).admit([hourly(DAILY, { schedules: [first] })]);
  await registered(of);
  const green = bench({ ...of.options(), instanceName: 'green' });
  callsOf(green.guard).admit([hourly(DAILY, { schedules: [{ ...first, dialect: 'node-cron' }] })]);
  await registered(green);
  assert.match(
    warnings[0] ?? '',
    /croner runs it on dates where either of them matches, node-cron runs it on dates where both the day and the weekday match\./,
  );
});

void test('a new schedule names the period whose last tick by the old one has no run', async () => {
  const of = bench();
  const warnings = warningsOf(of.events);
  scheduled(of, DAILY);
  await registered(of);
  of.clock.advance('90m');
  const { events: _, ...options } = of.options();
  const redeployed = bench(options);
  const ofRedeployed = warningsOf(redeployed.events);
  const evening = { ...HOURLY, expression: '0 22 * * *' };
  callsOf(redeployed.guard).admit([hourly(DAILY, { schedules: [evening] })]);
  await registered(redeployed);
  assert.equal(ofRedeployed.length, 1);
  assert.match(
    ofRedeployed[0] ?? '',
    /^Job 'close-day' has another schedule now\. Its run for 2026-11-20, due at .+, is missing, and .+: cronlatch run close-day$/,
  );
  assert.deepEqual([warnings, await lateJobs(redeployed)], [[], []]);
});

void test('two jobs that share a lock are one job with the schedules of both', async () => {
  const of = bench();
  const shared = { ...JOB, shared: true };
  const often = { ...HOURLY, expression: '*/5 * * * *' };
  callsOf(of.guard).admit([hourly(shared), hourly(shared, { schedules: [often] })]);
  const { declared } = await registered(of);
  assert.deepEqual(declared.schedules, [HOURLY, often]);
  const { jobs } = await operations(of.guard).overview();
  assert.equal(Number(jobs[0]?.nextScheduledAt) - of.clock.wallMs(), 300_000);
});

void test('a once-per job is registered beside a lock job of its name', async () => {
  for (const configurations of [
    [DAILY, SHARED],
    [SHARED, DAILY],
  ]) {
    const of = bench();
    const shared = configurations.map((each) => ({ ...each, name: 'close-day', shared: true }));
    const oncePer = { ...DAILY.oncePer, name: 'close-day' };
    for (const each of shared) {
      const configuration = 'oncePer' in each ? { ...each, oncePer } : each;
      callsOf(of.guard).admit([hourly(configuration)]);
    }
    assert.equal((await registered(of)).declared.kind, 'day');
  }
});

void test('a job that is declared again and again is registered once', async (t) => {
  const of = bench();
  const register = t.mock.method(of.runStore, 'registerJobs');
  for (let i = 0; i < 3; i += 1) {
    callsOf(of.guard).admit([hourly(SHARED)]);
    await of.guard.runOverdue();
  }
  assert.equal(register.mock.callCount(), 1);
});

void test('a failure of the register is reported once, and the next poll tries again', async (t) => {
  const of = bench();
  const warnings = warningsOf(of.events);
  const away = t.mock.method(of.runStore, 'jobs', () => Promise.reject(new LockStorageError('away')));
  scheduled(of, DAILY);
  await of.guard.runOverdue();
  await of.guard.runOverdue();
  const message = 'Could not update the register of jobs. The guard will try again at the next poll.';
  assert.deepEqual(warnings, [message]);
  away.mock.restore();
  assert.equal((await registered(of)).job, DAILY.name);
});

void test('the options of the register are checked', () => {
  const of = bench();
  const code = InvalidLockConfigurationError.code;
  for (const history of [true, false])
    for (const configuration of [
      { ...JOB, history },
      { ...DAILY, oncePer: { ...DAILY.oncePer, history } },
    ])
      assert.throws(() => of.guard.check(configuration), {
        code,
        message:
          /^The option history of job '[a-z-]+' is gone: .+ use @OncePer\('tick'\), or oncePer: \{ period: 'tick' \}\.$/,
      });
  assert.throws(() => bench({ lateAfter: '0s' }), { code, message: /lateAfter/ });
  assert.throws(
    () => newGuard({ lockProvider: of.provider, runStore: of.runStore, lateAftr: '1m' } as never),
    /Did you mean 'lateAfter'/,
  );
});

void test('a job is disabled only while no other instance that has it is enabled', async () => {
  const of = bench();
  const disabled = async () => (await registered(of)).declared.disabled;
  of.guard.wrap(DAILY, () => {});
  of.guard.enable(false);
  assert.equal(await disabled(), 'guard');
  of.guard.enable(true);
  assert.equal(await disabled(), undefined);
  const here = await registered(of);
  await of.runStore.registerJobs([{ ...here, registeredBy: 'web-2/9' }]);
  of.guard.enable(false);
  assert.equal(await disabled(), undefined);
  assert.equal((await registered(of)).registeredBy, 'web-2/9');
  of.clock.advance(HOUR_MS); // The other instance has ended.
  assert.equal(await disabled(), 'guard');
  of.guard.enable(() => assert.fail('no flag'));
  assert.equal(await disabled(), undefined);
});

void test('an idle version that declares a job otherwise does not disable it, and takes it over when it is enabled', async () => {
  const of = bench({ instanceName: 'blue' });
  scheduled(of, DAILY);
  const { declared } = await registered(of);
  const green = bench({ ...of.options(), events: undefined, instanceName: 'green', enabled: false });
  scheduled(green, { ...DAILY, lockAtMostFor: '20m' });
  for (const _ of [1, 2, 3]) {
    assert.deepEqual((await registered(green)).declared, declared);
    of.clock.advance('2m');
    await registered(of);
  }
  of.guard.enable(false);
  green.guard.enable(true);
  const { declared: ofGreen, declaredAt } = await registered(green);
  assert.deepEqual([ofGreen.lockAtMostForMs, ofGreen.disabled], [1_200_000, undefined]);
  assert.ok(declaredAt && declaredAt <= new Date(of.clock.wallMs() - 360_000));
});

void test('a job whose guards are all disabled is late, and why names the cause', async () => {
  const of = bench();
  scheduled(of, DAILY);
  of.guard.enable(false);
  await registered(of);
  of.clock.advance('1802m');
  await registered(of);
  const { jobs } = await operations(of.guard).overview();
  assert.deepEqual(
    jobs.map(({ state, problems }) => [state, problems.map(({ kind }) => kind)]),
    [['missed', ['late', 'missed']]],
  );
  const { obstacles } = await readWhy(of.guard, 'close-day');
  const why = 'no instance that declares it is enabled';
  assert.deepEqual(obstacles, [{ reason: 'disabled', text: `Job 'close-day' is disabled: ${why}.` }]);
  of.guard.enable(true);
  assert.equal((await of.guard.runOverdue()).started, 1, 'the run of today was put off');
});
