import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError, JobGuard } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { guardBench } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';
import type { FoundRun } from '#cronlatch/ledger/run-store';
import { commandOf, operations } from 'cronlatch/operations';

const AUDIT = { actor: 'anne', reason: 'audit' };

void test('an overview shows each job with its state, its problems and the commands that fix them', async () => {
  const { guard, clock } = guardOfRuns();
  const oncePer = { ...DAILY.oncePer, retry: { maxAttempts: 1 } };
  const closeDay = guard.wrap({ ...DAILY, oncePer }, () => Promise.reject(new Error('no disk')), {
    onError: 'report',
  });
  guard.wrap({ ...DAILY, name: 'fine', lockAtMostFor: '10m' }, () => {});
  await closeDay();
  await operations(guard).pause({ lock: 'fine' }, AUDIT);
  await guard.lockManager().tryLock({ name: 'by hand', lockAtMostFor: '1h' });
  const { jobs, locks, hasRegister, now } = await operations(guard).overview();
  assert.deepEqual([hasRegister, now.getTime()], [true, clock.wallMs()]);
  assert.deepEqual(
    jobs.map(({ job, state, timeZone }) => [job, state, timeZone]),
    [
      ['close-day', 'failed', 'Europe/Paris'],
      ['fine', 'paused', 'Europe/Paris'],
    ],
  );
  const [failed, held] = jobs;
  const key = failed?.lastRun?.periodKey ?? '';
  assert.match(
    failed?.problems[0]?.text ?? '',
    /failed permanently at \S+ \S+\+0[12]:00, after attempt 1: Error: no disk\./,
  );
  const remedy = failed?.problems[0]?.remedy;
  assert.deepEqual(remedy, { verb: 'rerun', subject: { job: 'close-day', period: key }, values: {} });
  assert.deepEqual(commandOf(remedy), ['rerun', 'close-day', key, '--reason', 'TEXT']);
  assert.deepEqual([held?.problems, held?.notes.map(({ kind }) => kind)], [[], ['paused']]);
  assert.deepEqual(
    locks?.map(({ name }) => name),
    ['by hand'],
  );
});

void test('a job that runs is shown as running, also if its last run failed', async () => {
  const { guard } = guardOfRuns();
  let work = (): Promise<void> => Promise.reject(new Error('no disk'));
  const tick = guard.wrap({ ...DAILY, oncePer: { period: 'tick' } }, () => work());
  await tick();
  assert.deepEqual(
    (await operations(guard).overview()).jobs.map(({ state }) => state),
    ['failed'],
  );
  work = async () => {
    const [job] = (await operations(guard).overview()).jobs;
    assert.deepEqual([job?.state, job?.running.length], ['running', 1]);
    assert.match(job?.problems[0]?.text ?? '', /no disk/);
  };
  await tick();
});

void test('jobs that share a lock are in use, not running, unless a run shows which of them runs', async () => {
  const { guard } = guardOfRuns();
  const shared = { ...JOB, name: 'books', shared: true };
  guard.wrap({ ...shared, oncePer: { name: 'close-day', period: 'tick' } }, () => assert.fail('ran'));
  const report = guard.wrap({ ...shared, oncePer: { name: 'report', period: 'tick' } }, async () => {
    const { jobs } = await operations(guard).overview();
    assert.deepEqual(
      jobs.map(({ job, state, notes }) => [job, state, notes.map(({ kind }) => kind)]),
      [
        ['report', 'running', []],
        ['close-day', 'not run yet', ['in use']],
      ],
    );
    const [note] = jobs[1]?.notes ?? [];
    assert.match(
      note?.text ?? '',
      /^Lock 'books' of job 'close-day' is in use by \S+\. Other jobs have it, too: report\.$/,
    );
  });
  await report();
  assert.equal((await operations(guard).overview()).jobs[0]?.state, 'ok');
});

void test('a job without a run is not ok, nor one that has only a lock and no answered tick', async () => {
  const { guard } = guardOfRuns();
  guard.wrap(DAILY, () => {});
  const tick = guard.wrap({ ...JOB, name: 'plain' }, () => {}, { schedule: '0 3 * * *' });
  const states = async () =>
    Object.fromEntries((await operations(guard).overview()).jobs.map(({ job, state }) => [job, state]));
  await guard.runOverdue();
  assert.deepEqual(await states(), { 'close-day': 'not run yet', plain: 'no record' });
  await tick();
  await guard.runOverdue();
  assert.deepEqual(await states(), { 'close-day': 'not run yet', plain: 'ok' });
});

const HOUR_MS = 3_600_000;
const kindsOf = async (guard: JobGuard) =>
  (await operations(guard).overview()).jobs.map(({ job, state, problems, notes }) => [
    job,
    state,
    [...problems, ...notes].map(({ kind }) => kind),
  ]);

void test('a lock that ends after more than a day, and more than its job declares, is stuck', async () => {
  const { guard } = guardOfRuns();
  guard.wrap({ ...JOB, name: 'long', lockAtMostFor: '3d' }, () => {}, { schedule: '0 3 * * *' });
  guard.wrap({ ...JOB, name: 'short' }, () => {}, { schedule: '0 3 * * *' });
  await guard.runOverdue();
  const locks = guard.lockManager();
  for (const name of ['long', 'short']) await locks.tryLock({ name, lockAtMostFor: '2d' });
  assert.deepEqual(await kindsOf(guard), [
    ['short', 'stuck', ['stuck']],
    ['long', 'running', []],
  ]);
  const [{ problems } = assert.fail()] = (await operations(guard).overview()).jobs;
  assert.match(
    problems[0]?.text ?? '',
    /^Lock 'short' is held by \S+, and ends at .+ If its process is dead:$/,
  );
  assert.deepEqual(problems[0]?.remedy?.subject, { lock: 'short' });
  const owner = (await guard.locks.inspect('short'))?.lockedBy ?? '';
  await operations(guard).release({ lock: 'short', owner }, AUDIT);
  await operations(guard).pause({ lock: 'short' }, AUDIT);
  assert.deepEqual((await kindsOf(guard))[0], ['short', 'paused', ['paused']]);
});

void test('an owner that another program wrote is a note', async () => {
  const { guard, clock } = guardOfRuns();
  guard.wrap({ ...JOB, name: 'books' }, () => {}, { schedule: '0 3 * * *' });
  await guard.runOverdue();
  const lockUntil = new Date(clock.wallMs() + HOUR_MS);
  const found = { isHeld: true, lockedBy: 'maintenance by Ann', lockUntil, fencingToken: 1 };
  Object.assign(guard.locks, { list: () => Promise.resolve([{ name: 'books', ...found }]) });
  assert.deepEqual(await kindsOf(guard), [['books', 'running', ['unknown owner']]]);
});

void test('jobs that share a lock may have it for as long as the longest lease of them', async () => {
  const { guard } = guardOfRuns();
  const options = { schedule: '0 3 * * *' };
  const shared = { ...JOB, name: 'books', shared: true };
  const named = (name: string) => ({ name, period: 'tick' }) as const;
  guard.wrap({ ...shared, lockAtMostFor: '3d', oncePer: named('close-week') }, () => {}, options);
  guard.wrap({ ...shared, oncePer: named('report') }, () => {}, options);
  await guard.runOverdue();
  await guard.lockManager().tryLock({ name: 'books', lockAtMostFor: '2d' });
  assert.deepEqual(await kindsOf(guard), [
    ['close-week', 'not run yet', ['in use']],
    ['report', 'not run yet', ['in use']],
  ]);
});

void test('a run whose process is gone is not running: its lock is free, paused or kept', async () => {
  const { guard, runStore } = guardOfRuns();
  guard.wrap(DAILY, () => {}, { schedule: '0 3 * * *' });
  await guard.runOverdue();
  const started = { claimedBy: 'web-1/17/x', lockId: 'memory/close-day', fencingToken: 1, leaseMs: HOUR_MS };
  const run = {
    job: 'close-day',
    scope: '',
    periodKey: '2026-11-19',
    timeZone: 'UTC',
    state: 'running',
  } as const;
  await runStore.insert({ ...run, periodStart: new Date(0), periodEnd: new Date(1), started });
  const stateOf = async () =>
    (await operations(guard).overview()).jobs.map(({ state, running }) => [state, running.length]);
  assert.deepEqual(await stateOf(), [['due', 0]]);
  const lock = await guard.lockManager().tryLock({ ...JOB, name: 'close-day' });
  assert.deepEqual(await stateOf(), [['running', 1]]);
  await lock?.unlock();
  await operations(guard).pause({ lock: 'close-day' }, AUDIT);
  assert.deepEqual(await stateOf(), [['paused', 0]]);
});

void test('a run whose lease ended a quarter of an hour ago is stuck, and one that is kept alive for days is not', async () => {
  const { guard, runStore, clock } = guardOfRuns();
  const started = { claimedBy: 'web-1/17/x', lockId: 'memory/close-day', fencingToken: 1 };
  const insert = async (job: string, leaseMs: number): Promise<void> => {
    const run = { job, scope: '', periodKey: '2026-11-20', timeZone: 'UTC', state: 'running' } as const;
    const period = { periodStart: new Date(0), periodEnd: new Date(86_400_000) };
    await runStore.insert({ ...run, ...period, started: { ...started, leaseMs } });
  };
  await insert('ended', 60_000);
  clock.advance('14m');
  assert.deepEqual(await kindsOf(guard), [['ended', 'running', []]]);
  clock.advance('3m');
  await insert('far', 25 * HOUR_MS);
  assert.deepEqual(await kindsOf(guard), [
    ['ended', 'stuck', ['stuck']],
    ['far', 'running', []],
  ]);
  const texts = (await operations(guard).overview()).jobs.map(({ problems }) => problems[0]?.text);
  assert.match(
    texts[0] ?? '',
    /^The run of job 'ended' for 2026-11-20 has a lease that ended at .+, and no instance repeats it\. If its process is dead:$/,
  );
});

void test('a failed run in a time zone that this host does not know is shown in UTC', async () => {
  const { guard, runStore } = guardOfRuns();
  const key = { job: 'close-day', scope: '', periodKey: '2026-11-20' };
  const period = { periodStart: new Date(0), periodEnd: new Date(86_400_000), timeZone: 'Mars/Olympus' };
  await runStore.insert({ ...key, ...period, state: 'pending' });
  const interrupt = ({ run }: FoundRun) => ({
    value: undefined,
    write: { ...run, state: 'failed' as const, nextAttemptAt: undefined, finishedAt: new Date(0) },
  });
  await runStore.change(key, (found) => interrupt(found as FoundRun));
  const { jobs } = await operations(guard).overview();
  assert.match(
    jobs[0]?.problems[0]?.text ?? '',
    /'close-day' for 2026-11-20 failed permanently at 1970-01-01 00:00:00Z/,
  );
});

void test('the texts of an overview name instants as the caller wants', async () => {
  const { guard } = guardOfRuns();
  guard.wrap(DAILY, () => {});
  await operations(guard).pause({ lock: DAILY.name }, { ...AUDIT, until: '1m' });
  const { jobs } = await operations(guard).overview({
    when: (instant, { now, timeZone }) => `in ${instant.getTime() - now.getTime()} ms (${timeZone})`,
  });
  assert.match(jobs[0]?.notes[0]?.text ?? '', /The pause ends in 60000 ms \(Europe\/Paris\)\./);
});

void test('without a run store, and with locks that cannot be listed, an overview shows what is left', async () => {
  const { guard, provider } = guardBench();
  await guard.lockManager().tryLock(JOB);
  const { jobs, locks, hasRegister } = await operations(guard).overview();
  assert.deepEqual([jobs, locks?.map(({ name }) => name), hasRegister], [[], ['job'], false]);
  const unlisted: LockProvider = { lock: (...of) => provider.lock(...of) };
  const blind = new JobGuard({ lockProvider: unlisted, logger: false });
  assert.equal((await operations(blind).overview()).locks, undefined);
  await assert.rejects(blind.locks.list(), InvalidLockUseError);
});

void test('a guard names the locks and runs that its process holds, since when, and until when', async () => {
  const { guard, clock } = guardOfRuns();
  const atWork = async (): Promise<void> => {
    const [{ name, job, run, since, until, fencingToken } = assert.fail(), ...others] = guard.running();
    assert.deepEqual(
      [name, job, run?.job, run?.attempt, others],
      ['close-day', 'close-day', 'close-day', 1, []],
    );
    assert.ok(fencingToken !== undefined && until.getTime() - since.getTime() > 500_000);
    await Promise.resolve();
  };
  await guard.run(DAILY, atWork);
  assert.deepEqual(guard.running(), []);
  const lock = await guard.lockManager().tryLock({ name: 'by hand', lockAtMostFor: '1m' });
  await guard.lockManager().withLock({ name: 'task', lockAtMostFor: '1m' }, () => {
    assert.deepEqual(
      guard.running().map(({ name, job }) => [name, job]),
      [
        ['task', undefined],
        ['by hand', undefined],
      ],
    );
  });
  clock.advance(61_000);
  assert.deepEqual([guard.running(), lock?.remainingMs()], [[], 0]);
});
