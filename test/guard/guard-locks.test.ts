import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  InvalidLockConfigurationError,
  InvalidLockUseError,
  JobGuard,
  type CronlatchEvents,
} from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { guardBench, runningJob } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';

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
  job.finish();
  await job.result;
  assert.equal((await guard.locks.inspect(JOB.name))?.isHeld, false);
});

void test('a forced release frees the lock, is reported with actor and reason, and aborts the holder when it renews', async () => {
  const { guard, other, clock, lines } = guardBench();
  const forced: CronlatchEvents['lock:forced'][] = [];
  guard.on('lock:forced', (event) => forced.push(event));
  const job = await runningJob(guard, { ...JOB, keepAlive: true, lockAtLeastFor: '5m' });
  const before = await guard.locks.inspect(JOB.name);

  assert.equal(await guard.locks.release(JOB.name, BY_ANNE), true);
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
  job.finish();
  await job.result;
});

void test('a holder that renews meanwhile is released, and another holder is not', async () => {
  const { guard, accessor, other } = guardBench();
  const job = await runningJob(guard);
  accessor.fail('unlock', async (run) => {
    assert.equal(await job.lock.extend('20m'), true);
    return await run();
  });
  assert.equal(await guard.locks.release(JOB.name, BY_ANNE), true);

  const second = await other.lock(JOB);
  accessor.fail('unlock', async (run) => {
    await second?.unlock();
    assert.ok(await other.lock(JOB));
    return await run();
  });
  assert.equal(await guard.locks.release(JOB.name, BY_ANNE), false);
  assert.equal((await guard.locks.inspect(JOB.name))?.isHeld, true);
  job.finish();
  await job.result;
});

void test('a forced release of one holder leaves the next holder its lock, and that of a free lock changes nothing', async () => {
  const { guard, other } = guardBench();
  const forced: unknown[] = [];
  guard.on('lock:forced', (event) => void forced.push(event));
  assert.equal(await guard.locks.release(JOB.name, BY_ANNE), false);
  const first = await other.lock(JOB);
  const owner = (await guard.locks.inspect(JOB.name))?.lockedBy;
  await first?.extend('20m');
  assert.equal(await guard.locks.release(JOB.name, { ...BY_ANNE, owner }), true);
  assert.ok(await other.lock(JOB));
  assert.equal(await guard.locks.release(JOB.name, { ...BY_ANNE, owner }), false);
  assert.equal(forced.length, 1);
  assert.equal((await guard.locks.inspect(JOB.name))?.isHeld, true);
});

void test('a forced release without an actor or a reason is refused', async () => {
  const { guard } = guardBench();
  const job = await runningJob(guard);
  for (const options of [{}, { actor: 'anne' }, { reason: 'why' }, { ...BY_ANNE, reason: ' ' }]) {
    const release = async (): Promise<boolean> =>
      await guard.locks.release(JOB.name, options as typeof BY_ANNE);
    await assert.rejects(release, InvalidLockUseError);
  }
  assert.equal((await guard.locks.inspect(JOB.name))?.isHeld, true);
  job.finish();
  await job.result;
});

const AUDIT = { actor: 'anne', reason: 'audit of the books' };

void test('while an operator holds a lock, every instance skips its job, and the event names who and why', async () => {
  const { guard, clock, otherExecutor } = guardBench();
  const skips: CronlatchEvents['lock:skipped'][] = [];
  guard.on('lock:skipped', (event) => void skips.push(event));
  const until = new Date('2026-11-23T00:00:00Z');
  assert.equal(await guard.locks.hold(JOB.name, { ...AUDIT, until }), true);
  const heldBy = 'hold/anne/audit of the books/2026-11-20T03:00:00.000Z';
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

void test('the end of a hold by hand is reported, and frees nothing but a hold', async () => {
  const { guard } = guardBench();
  const forced: CronlatchEvents['lock:forced'][] = [];
  guard.on('lock:forced', (event) => void forced.push(event));
  assert.equal(await guard.locks.unhold(JOB.name, AUDIT), false);
  const job = await runningJob(guard);
  assert.equal(await guard.locks.unhold(JOB.name, AUDIT), false);
  assert.equal(
    await guard.locks.hold(JOB.name, { ...AUDIT, until: new Date('2026-11-23T00:00:00Z') }),
    false,
  );
  job.finish();
  await job.result;
  assert.equal(await guard.locks.hold(JOB.name, { ...AUDIT, until: new Date('2026-11-23T00:00:00Z') }), true);
  assert.equal(await guard.locks.unhold(JOB.name, { ...AUDIT, reason: 'the audit has ended' }), true);
  assert.deepEqual(
    forced.map(({ heldBy, reason }) => [heldBy, reason]),
    [['hold/anne/audit of the books/2026-11-20T03:00:00.000Z', 'the audit has ended']],
  );
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
});

void test('a job on a host that is called hold is not the hold of an operator', async () => {
  const { guard, provider } = guardBench();
  const owner = 'hold/4711/0f8fad5b-d9cb-469f-a165-70867728950e/3';
  assert.equal(await provider.hold(JOB.name, { owner, lockAtMostFor: '10m' }), true);
  assert.equal(await guard.locks.unhold(JOB.name, AUDIT), false);
});

void test('the overdue runs of a held job start after the hold', async () => {
  const { guard, clock } = guardOfRuns();
  const tick = guard.wrap(DAILY, () => 'closed');
  const until = new Date(clock.wallMs() + 3_600_000);
  await guard.locks.hold(DAILY.name, { ...AUDIT, until });
  await tick();
  assert.equal((await guard.runOverdue()).started, 0);
  await guard.locks.unhold(DAILY.name, AUDIT);
  assert.equal((await guard.runOverdue()).started, 1);
});

void test('a hold with an invalid end, actor or reason is refused', async () => {
  const { guard } = guardBench();
  const until = new Date('2026-11-21T00:00:00Z');
  for (const wrong of [
    { until: new Date('2026-11-20T03:00:00Z') },
    { until: new Date('2027-11-20T03:00:01Z') },
    { until: new Date(NaN) },
    { until: '2026-11-21' as unknown as Date },
    { actor: '' },
    { actor: undefined as unknown as string },
    { reason: 'two\nlines' },
    { reason: 'x'.repeat(220) },
  ])
    await assert.rejects(
      guard.locks.hold(JOB.name, { ...AUDIT, until, ...wrong }),
      InvalidLockConfigurationError,
    );
  assert.equal((await guard.run(JOB, () => 1)).executed, true);
});

void test('the longest actor and reason fit into the column of the owner', async () => {
  const { guard } = guardBench();
  const reason = 'x'.repeat(231 - 'hold/anne//2026-11-20T03:00:00.000Z'.length);
  const hold = { ...AUDIT, until: new Date('2026-11-21T00:00:00Z') };
  assert.equal(await guard.locks.hold(JOB.name, { ...hold, reason }), true);
  assert.equal((await guard.locks.inspect(JOB.name))?.lockedBy.length, 231);
  await assert.rejects(
    guard.locks.hold(JOB.name, { ...hold, reason: `${reason}x` }),
    / 1 characters too long /,
  );
});

void test('a lock provider without these methods is refused by their names', async () => {
  const lockProvider: LockProvider = { lock: () => Promise.resolve(undefined) };
  const { locks } = new JobGuard({ lockProvider, logger: false });
  await assert.rejects(locks.list(), /no method 'list'/);
  await assert.rejects(locks.inspect('job'), /no method 'inspect'/);
  await assert.rejects(locks.release('job', BY_ANNE), /no method 'inspect'/);
  await assert.rejects(locks.purge({ olderThan: '1d' }), /no method 'purge'/);
  const hold = locks.hold('job', { ...AUDIT, until: new Date(Date.now() + 60_000) });
  await assert.rejects(hold, /no method 'hold'\. Locks of ZooKeeper and row locks cannot outlive/);
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
