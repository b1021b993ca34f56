import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JobGuard } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import type { LockProvider } from 'cronlatch/provider';
import { isHoldOwner, newHoldOwner, readHold } from '#cronlatch/core/lease/hold-owner';
import { eventsOf, guardBench, runningJob, warningsOf } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';

const LOCK = { lock: JOB.name };
const BY_ANNE = { actor: 'anne', reason: 'its pod is gone' };

void test('guard.locks shows who holds a lock, and lists all of them', async () => {
  const { guard } = guardBench();
  assert.equal(await guard.locks.inspect(JOB.name), undefined);
  const job = await runningJob(guard);
  const state = await guard.locks.inspect(JOB.name);
  assert.equal(state?.isHeld, true);
  assert.match(state.lockedBy, new RegExp(`/${process.pid}/`));
  assert.equal(state.lockUntil.toISOString(), '2026-11-20T03:10:00.000Z');
  assert.equal(state.lockedAt?.toISOString(), '2026-11-20T03:00:00.000Z');
  assert.deepEqual(await guard.locks.list(), [state]);
  assert.deepEqual(await guard.locks.list({ after: JOB.name }), []);
  await job.end();
  assert.equal((await guard.locks.inspect(JOB.name))?.isHeld, false);
});

void test('a forced release frees the lock, is reported with actor and reason, and aborts the holder when it renews', async () => {
  const { guard, other, clock, lines } = guardBench();
  const forced = eventsOf(guard, 'lock:forced');
  const job = await runningJob(guard, { ...JOB, keepAlive: true, lockAtLeastFor: '5m' });
  const before = await guard.locks.inspect(JOB.name);

  await operations(guard).release(LOCK, BY_ANNE);
  assert.deepEqual(forced, [
    {
      ...{ name: JOB.name, scheduledAt: undefined, ...BY_ANNE },
      ...{ heldBy: before?.lockedBy, heldUntil: before?.lockUntil },
    },
  ]);
  assert.match(
    lines.join('\n'),
    /^warn: cronlatch lock:forced: job 'job' had its lock released by anne \(its pod is gone\), which \S+ held until 2026-11-20T03:10:00.000Z; another instance can run the job now\.$/m,
  );

  const next = await other.lock(JOB);
  assert.ok(Number(next?.fencingToken) > Number(job.lock.fencingToken));
  const aborted = new Promise((resolve) => job.lock.signal.addEventListener('abort', resolve));
  clock.advance('200s');
  await aborted;
  await job.end();
});

void test('a holder that renews meanwhile is released, and another holder is not', async () => {
  const { guard, accessor, other } = guardBench();
  const job = await runningJob(guard);
  accessor.fail('unlock', async (run) => {
    assert.equal(await job.lock.extend('20m'), true);
    return await run();
  });
  await operations(guard).release(LOCK, BY_ANNE);

  const second = await other.lock(JOB);
  accessor.fail('unlock', async (run) => {
    await second?.unlock();
    assert.ok(await other.lock(JOB));
    return await run();
  });
  const refused = operations(guard).release(LOCK, BY_ANNE);
  await assert.rejects(
    refused,
    /^ConflictError: Lock 'job' was not released: its holder has changed meanwhile\.$/,
  );
  assert.equal((await guard.locks.inspect(JOB.name))?.isHeld, true);
  await job.end();
});

void test('a forced release of one holder leaves the next holder its lock, and that of a free lock changes nothing', async () => {
  const { guard, other } = guardBench();
  const forced: unknown[] = [];
  guard.on('lock:forced', (event) => void forced.push(event));
  await assert.rejects(operations(guard).release(LOCK, BY_ANNE), /Lock 'job' is free/);
  const first = await other.lock(JOB);
  const owner = (await guard.locks.inspect(JOB.name))?.lockedBy;
  await first?.extend('20m');
  await operations(guard).release({ ...LOCK, owner }, BY_ANNE);
  assert.ok(await other.lock(JOB));
  await assert.rejects(operations(guard).release({ ...LOCK, owner }, BY_ANNE), /, not by '.+'\./);
  assert.equal(forced.length, 1);
  assert.equal((await guard.locks.inspect(JOB.name))?.isHeld, true);
});

const AUDIT = { actor: 'anne', reason: 'audit of the books' };

void test('while an operator pauses a lock, every instance skips its job, and the event names who and why', async () => {
  const { guard, clock, otherExecutor } = guardBench();
  const skips = eventsOf(guard, 'lock:skipped');
  const warnings = warningsOf(guard);
  const until = new Date('2026-11-23T00:00:00Z');
  const heldBy = 'hold/anne/audit of the books/2026-11-20T03:00:00.000Z';
  const { text, facts } = await operations(guard).pause(LOCK, { ...AUDIT, until: until.toISOString() });
  assert.equal(text, 'Paused: no instance starts the job. Not recorded: this guard keeps no acts.');
  assert.deepEqual(warnings, ['Could not record pause by anne: this guard keeps no acts.']);
  assert.deepEqual(facts, { job: undefined, others: [], lock: JOB.name, heldBy, until });
  assert.deepEqual(await guard.run(JOB, () => assert.fail('ran')), { executed: false, reason: 'locked' });
  assert.equal((await otherExecutor.executeWithLock(() => 1, JOB)).executed, false);
  assert.deepEqual(
    skips.map((skip) => [skip.reason, skip.heldBy, skip.heldUntil]),
    [['locked', heldBy, until]],
  );
  assert.equal((await guard.locks.inspect(JOB.name))?.lockedBy, heldBy);
  clock.advance('69h');
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
});

void test('the end of a pause by hand is reported, and frees nothing but a pause', async () => {
  const { guard } = guardBench();
  const act = operations(guard);
  const forced = eventsOf(guard, 'lock:forced');
  await assert.rejects(act.resume(LOCK, AUDIT), /^ConflictError: Lock 'job' is not paused: it is free\.$/);
  const job = await runningJob(guard);
  await assert.rejects(act.resume(LOCK, AUDIT), /^ConflictError: Lock 'job' is not paused: '.+' holds it\.$/);
  await assert.rejects(act.pause(LOCK, AUDIT), /^ConflictError: .+ is held by '.+' until .+\. Try again/);
  await job.end();
  await act.pause(LOCK, AUDIT);
  await assert.rejects(act.pause(LOCK, AUDIT), / is paused already, by anne until .+: audit of the books\. /);
  await act.resume(LOCK, { ...AUDIT, reason: 'the audit has ended' });
  assert.deepEqual(
    forced.map(({ heldBy, reason }) => [heldBy, reason]),
    [['hold/anne/audit of the books/2026-11-20T03:00:00.000Z', 'the audit has ended']],
  );
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
});

void test('a job on a host that is called hold is not the pause of an operator', async () => {
  const { guard, provider } = guardBench();
  const owner = 'hold/4711/0f8fad5b-d9cb-469f-a165-70867728950e/3';
  assert.equal(await provider.hold(JOB.name, { owner, lockAtMostFor: '10m' }), true);
  await assert.rejects(operations(guard).resume(LOCK, AUDIT), /Lock 'job' is not paused/);
});

void test('the overdue runs of a paused job start after the pause', async () => {
  const { guard } = guardOfRuns();
  const tick = guard.wrap(DAILY, () => 'closed');
  await operations(guard).pause({ job: DAILY.name }, { ...AUDIT, until: '1h' });
  await tick();
  assert.equal((await guard.runOverdue()).started, 0);
  await operations(guard).resume({ job: DAILY.name }, AUDIT);
  assert.equal((await guard.runOverdue()).started, 1);
});

void test('the end of a pause is an instant or a duration of at most 365 days, by the clock of the guard', async () => {
  const { guard, clock } = guardBench();
  const act = operations(guard);
  for (const [until, message] of [
    ['2026-11-20T03:00:00Z', /which has passed: use an instant with its offset/],
    ['2027-11-20T03:00:01Z', /which is more than 365 days away: use/],
    ['2026-11-21', /^until is "2026-11-21": use an instant with .+, or a duration such as 2h\.$/],
    ['2026-11-21T06:00', /: use an instant with its offset/],
    ['tomorrow', /^until is "tomorrow": use/],
    ['366d', /^until is "366d": it must lie between 0 and 365 days\.$/],
    [new Date('2026-11-21T00:00:00Z') as unknown as string, /^until is .+: pass a text\.$/],
  ] as const)
    await assert.rejects(act.pause(LOCK, { ...AUDIT, until }), {
      name: 'InvalidLockConfigurationError',
      message,
    });
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
  for (const [until, days] of [
    [undefined, 365],
    ['2d', 2],
    ['2027-11-20T03:00:00Z', 365],
  ] as const) {
    await act.pause(LOCK, { ...AUDIT, until });
    const { lockUntil } = (await guard.locks.inspect(JOB.name)) ?? {};
    assert.equal((Number(lockUntil) - clock.wallMs()) / 86_400_000, days);
    await act.resume(LOCK, AUDIT);
  }
});

void test('an actor and a reason that are too long for the column of the owner are cut', async () => {
  const { guard } = guardBench();
  const reason = `an audit\n\tof ${'😀'.repeat(240)}`;
  await operations(guard).pause(LOCK, { actor: 'a'.repeat(128), reason });
  const { lockedBy = '' } = (await guard.locks.inspect(JOB.name)) ?? {};
  assert.match(lockedBy, /^hold\/a{63}…\/an audit of (😀)+…\/2026-11-20T03:00:00\.000Z$/u);
  assert.ok(lockedBy.length <= 231 && lockedBy.isWellFormed());
  await operations(guard).resume(LOCK, AUDIT);
  const since = new Date('2026-11-20T03:00:00.000Z');
  for (const [actor, text] of [
    ['/'.repeat(128), 'x'.repeat(500)],
    ['%'.repeat(64), ' \n '.repeat(80) + 'y'],
  ] as const) {
    const owner = newHoldOwner(actor, text, since);
    assert.ok(isHoldOwner(owner) && owner.length <= 231, owner);
    assert.deepEqual(readHold(owner)?.since, since);
  }
});

void test('a lock provider without these methods is refused by their names', async () => {
  const lockProvider: LockProvider = { lock: () => Promise.resolve(undefined) };
  const guard = new JobGuard({ lockProvider, logger: false });
  const act = operations(guard);
  await assert.rejects(guard.locks.list(), /no method 'list'/);
  await assert.rejects(guard.locks.inspect('job'), /no method 'inspect'/);
  await assert.rejects(act.release(LOCK, BY_ANNE), /no method 'forceRelease'/);
  await assert.rejects(act.resume(LOCK, BY_ANNE), /no method 'forceRelease'/);
  await assert.rejects(act.purge({ ...BY_ANNE, olderThan: '1d', locks: true }), /no method 'purge'/);
  await assert.rejects(act.pause(LOCK, AUDIT), /no method 'hold'\. Locks of ZooKeeper and row locks/);
});

void test('locks are listed in parts', async () => {
  const { guard, provider } = guardBench();
  const names = Array.from({ length: 7 }, (_, i) => `job-${i}`);
  for (const name of names) assert.ok(await provider.lock({ ...JOB, name }));
  const listed: string[] = [];
  for (let after: string | undefined; ; after = listed.at(-1)) {
    const page = await guard.locks.list({ after, limit: 3 });
    if (page.length === 0) break;
    listed.push(...page.map(({ name }) => name));
  }
  assert.deepEqual(listed, names);
  for (const limit of [0, -1, 1.5, NaN])
    await assert.rejects(guard.locks.list({ limit }), /limit of a list of locks is/);
});
