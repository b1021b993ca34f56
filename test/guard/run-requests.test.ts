import { declareLockJob } from '../support/jobs/lock-job';
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import timers from 'node:timers/promises';
import { InvalidLockUseError, LockStorageError, SchemaMismatchError } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import type { StoredAct } from '#cronlatch/ledger/act-store';
import { signal } from '../support/benches/executor';
import { DAILY, guardOfRuns, type GuardOfRuns } from '../support/benches/guard-of-runs';
import { newGuard } from '../support/benches/guard-with-runs';
import { turn } from '../support/benches/lock';
import { lastAct } from '../support/jobs/acts';

const ACT = { actor: 'anne', reason: 'the bank was late' };
const REPORT = { name: 'report', lockAtMostFor: '10m', oncePer: { period: 'tick' } } as const;
const MINUTE_MS = 60_000;

/** A guard that has declared a job once per day and one once per tick, and what they have run. */
function bench(options: Parameters<typeof guardOfRuns>[0] = {}) {
  const of = guardOfRuns(options);
  const ran: string[] = [];
  of.guard.wrap(DAILY, () => void ran.push('close-day'));
  of.guard.wrap(REPORT, () => void ran.push('report'));
  return { ...of, ran, ledger: of.guard.ledger };
}

async function refused(request: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(request, (error: Error) => {
    assert.ok(error instanceof InvalidLockUseError, String(error));
    assert.match(error.message, message);
    return true;
  });
}

/** Asks as an operator does. */
async function request(
  { guard }: Pick<GuardOfRuns, 'guard'>,
  job: string,
  { scope, period, ...how }: { scope?: string; period?: string } & Partial<typeof ACT> = {},
): Promise<StoredAct> {
  const { facts } = await operations(guard).run({ job, scope, period }, { ...ACT, ...how });
  return (facts as { readonly request: StoredAct }).request;
}

async function stateOf({ guard }: Pick<GuardOfRuns, 'guard'>, job: string) {
  const request = await lastAct(guard, job);
  return [request?.state, request?.outcome];
}

void test('a requested job runs at the next check, and its request ends', async () => {
  const of = bench();
  await of.guard.runOverdue();
  for (const job of ['close-day', 'report']) {
    const { state, actor, tries } = await request(of, job);
    assert.deepEqual([state, actor, tries], ['open', 'anne', 0]);
  }
  assert.deepEqual(of.ran, [], 'nothing runs before the check');
  assert.equal((await of.guard.runOverdue()).started, 2);
  assert.deepEqual(of.ran.sort(), ['close-day', 'report']);
  for (const job of ['close-day', 'report']) assert.deepEqual(await stateOf(of, job), ['done', undefined]);
  assert.equal((await of.ledger.list()).length, 2);
  assert.equal((await of.guard.runOverdue()).started, 0, 'no request is left');
});

void test('a past period runs on request, and one that has not begun does not', async () => {
  const of = bench();
  await of.guard.runOverdue();
  await request(of, 'close-day', { period: '2026-01-02' });
  await of.guard.runOverdue();
  assert.equal((await of.ledger.get({ job: 'close-day', periodKey: '2026-01-02' }))?.state, 'completed');
  await refused(request(of, 'close-day', { period: '2999-01-01' }), /its period 2999-01-01 has not begun/);
});

void test('a request that no instance can serve is refused by name', async () => {
  const of = bench();
  of.guard.wrap({ ...DAILY, name: 'off', enabled: false }, () => {});
  const scoped = { ...DAILY.oncePer, scope: (tenant: string) => tenant, resume: () => ['eu'] as [string] };
  of.guard.wrap(
    { name: 'tenants', lockAtMostFor: '1m', oncePer: scoped },
    (tenant: string) => void of.ran.push(tenant),
  );
  declareLockJob(of.guard, { name: 'pack', nameOf: (id: string) => `order-${id}`, lockAtMostFor: '1m' });
  await of.guard.runOverdue();
  await refused(request(of, 'pack'), /'pack': the name of its lock comes from its arguments/);
  await refused(request(of, 'reprot'), /^There is no job 'reprot'\./);
  await refused(request(of, 'off'), /'off': its option enabled is false/);
  await refused(request(of, 'tenants'), /'tenants': it has scopes\. Pass the scope/);
  await refused(request(of, 'close-day', { scope: 'eu' }), /it has no scopes/);
  await refused(request(of, 'report', { period: '2026-11-20' }), /gets a run of its own/);
  await refused(request(of, 'close-day', { period: 'monday' }), /"monday" is not the key/);
  of.clock.advance(3 * MINUTE_MS + 1);
  await refused(request(of, 'report'), /has declared it within the last 3 minutes\. The last was/);
  await of.guard.runOverdue();
  await request(of, 'report');
});

void test('the second request for a job is refused, and shows the first', async () => {
  const of = bench();
  await of.guard.runOverdue();
  const [one, two] = await Promise.allSettled([
    request(of, 'report'),
    request(of, 'report', { actor: 'bob', reason: 'too' }),
  ]);
  assert.deepEqual([one.status, two.status], ['fulfilled', 'rejected']);
  const first = /'report': it was requested by anne at .*: the bank was late\. That request has not ended/;
  await refused(request(of, 'report'), first);
  await of.guard.runOverdue();
  await request(of, 'report');
});

void test('a request waits while the job must not start, and expires', async () => {
  let enabled = false;
  const of = guardOfRuns();
  const ran: string[] = [];
  of.guard.wrap({ ...REPORT, enabled: () => enabled }, () => void ran.push('report'));
  await of.guard.runOverdue();
  await request(of, 'report');
  await of.guard.runOverdue();
  assert.deepEqual(await stateOf(of, 'report'), ['open', 'disabled']);
  enabled = true;
  of.guard.enable(false);
  await of.guard.runOverdue();
  of.guard.enable(true);
  await operations(of.guard).pause({ lock: 'report' }, { ...ACT, until: '10h' });
  await of.guard.runOverdue();
  assert.deepEqual([ran, await stateOf(of, 'report')], [[], ['open', 'locked']]);
  of.clock.advance(60 * MINUTE_MS);
  await operations(of.guard).resume({ lock: 'report' }, ACT);
  await of.guard.runOverdue();
  assert.deepEqual(ran, [], 'a forgotten request does not run after the pause');
  await request(of, 'report');
  await of.guard.runOverdue();
  assert.deepEqual(ran, ['report']);
});

void test('a handler that fails ends its request with the error', async () => {
  const of = guardOfRuns();
  of.guard.wrap(REPORT, () => Promise.reject(new Error('no paper')));
  await of.guard.runOverdue();
  await request(of, 'report');
  await of.guard.runOverdue();
  const [state, outcome] = await stateOf(of, 'report');
  assert.equal(state, 'failed');
  assert.match(outcome ?? '', /no paper/);
});

/** An instance that has taken the request, and whose process is then gone. */
async function takenByCrashed({ runStore, clock }: GuardOfRuns, job: string): Promise<void> {
  const { acts } = await runStore.acts.pending('run');
  const id = acts.find((act) => act.job === job)?.id ?? '';
  assert.ok(await runStore.acts.take(id, { owner: 'gone/1/x', leaseMs: MINUTE_MS }));
  clock.advance(MINUTE_MS);
}

void test('a job with only a lock is not repeated if the instance that took its request has crashed', async () => {
  const of = bench();
  declareLockJob(of.guard, { name: 'poll', lockAtMostFor: '1m' }, () => assert.fail('ran'));
  await of.guard.runOverdue();
  await request(of, 'poll');
  await takenByCrashed(of, 'poll');
  await of.guard.runOverdue();
  assert.deepEqual(await stateOf(of, 'poll'), [
    'failed',
    'the lease of gone/1 ended, and it has not come back',
  ]);
});

void test('a wait for a requested run ends minutes after the instance that took it has crashed', async (t: TestContext) => {
  const of = bench();
  await of.guard.runOverdue();
  const reads = t.mock.method(of.runStore.acts, 'list');
  const fail = () => Promise.reject(new LockStorageError('The database is down.'));
  const { mock } = t.mock.method(timers, 'setTimeout', async () => {
    if (mock.callCount() === 0) return await takenByCrashed(of, 'report');
    of.clock.advance(MINUTE_MS);
    if (mock.callCount() === 1) reads.mock.mockImplementationOnce(fail, reads.mock.callCount());
  });
  const { text } = await operations(of.guard).run({ job: 'report' }, { ...ACT, wait: true });
  assert.deepEqual([text, mock.callCount()], ['Job report on gone/1: not known whether it was done.', 6]);
});

const CRASHES = [
  ['a once-per job whose run was not claimed before the crash runs once', 'close-day', false],
  ['a run that was claimed before the crash belongs to the ledger, and the request ends', 'close-day', true],
  ['a tick that was claimed on request before the crash does not run again', 'report', true],
] as const;

for (const [name, job, isClaimed] of CRASHES)
  void test(name, async () => {
    const of = bench();
    await of.guard.runOverdue();
    const { at } = await request(of, job);
    await takenByCrashed(of, job);
    const crashed = newGuard(of.options());
    if (isClaimed) await crashed.run(job === 'report' ? { ...REPORT, at } : DAILY, () => {});
    of.clock.advance(MINUTE_MS);
    for (let check = 0; check < 2; check += 1) await of.guard.runOverdue();
    const expected = [isClaimed ? [] : ['close-day'], 'done'];
    assert.deepEqual([of.ran, (await stateOf(of, job))[0]], expected);
  });

/** A requested run that has started, and lasts until the test ends it. */
async function requestedRun(lockAtMostFor: string) {
  const of = guardOfRuns();
  const [started, ended] = [signal(), signal()];
  of.guard.wrap({ ...REPORT, lockAtMostFor }, async () => {
    started.resolve();
    await ended.promise;
  });
  await of.guard.runOverdue();
  await request(of, 'report');
  const running = of.guard.runOverdue();
  await started.promise;
  return { of, running, end: ended.resolve };
}

void test('the lease of a request is renewed while its handler runs', async () => {
  const { of, running, end } = await requestedRun('5h');
  for (let minute = 0; minute < 30; minute += 1) {
    of.clock.advance(MINUTE_MS / 2);
    await new Promise(setImmediate);
  }
  const { now, acts } = await of.runStore.acts.pending('run');
  assert.ok(acts[0]?.leaseUntil && acts[0].leaseUntil > now);
  end();
  await running;
  assert.equal((await stateOf(of, 'report'))[0], 'done');
});

void test('a guard that closes records how its requested run has ended', async () => {
  const { of, end } = await requestedRun('10m');
  const closed = of.guard.close();
  end();
  await closed;
  assert.deepEqual(await stateOf(of, 'report'), ['done', undefined]);
});

void test('a guard that closes waits for the read of requests that it has begun', async (t: TestContext) => {
  const of = bench();
  await of.guard.runOverdue();
  const { acts } = of.runStore;
  const read = acts.pending.bind(acts);
  let answer = (): void => {};
  t.mock.method(acts, 'pending', async (...args: Parameters<typeof read>) => {
    await new Promise<void>((resolve) => (answer = resolve));
    return await read(...args);
  });
  void of.guard.runOverdue();
  let hasClosed = false;
  const closing = of.guard.close().then(() => (hasClosed = true));
  for (let turns = 0; turns < 5; turns += 1) await turn();
  assert.equal(hasClosed, false);
  answer();
  await closing;
});

void test('requests that cannot be read are one warning, and the jobs go on', async (t: TestContext) => {
  const of = bench();
  const warnings: string[] = [];
  of.guard.on('guard:warning', ({ message }) => void warnings.push(message));
  const failing = t.mock.method(of.runStore.acts, 'pending', () =>
    Promise.reject(new LockStorageError('away')),
  );
  for (let check = 0; check < 3; check += 1) await of.guard.runOverdue();
  assert.deepEqual(warnings, [
    'Could not look up the requests to run jobs. The guard will try again at the next poll.',
  ]);
  failing.mock.restore();
  await request(of, 'report');
  await of.guard.runOverdue();
  assert.deepEqual(of.ran, ['report']);
});

void test('without a table of requests, no check warns, and a request names the fix', async (t: TestContext) => {
  const of = bench();
  const warnings: string[] = [];
  of.guard.on('guard:warning', ({ message }) => void warnings.push(message));
  const missing = new SchemaMismatchError("Table 'cronlatch_run_act' is missing.", {
    outcome: 'nothing-ran',
  });
  for (const method of ['pending', 'add'] as const)
    t.mock.method(of.runStore.acts, method, () => Promise.reject(missing));
  await of.guard.runOverdue();
  assert.deepEqual(warnings, []);
  await assert.rejects(request(of, 'report'), missing);
});
