import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockLostError, LockStorageError, type CronlatchEvents, type EventName } from 'cronlatch';
import { guardBench, reasonOf } from '../support/guard-bench';
import { JOB } from '../support/lock-bench';

const job = { name: 'job', scheduledAt: undefined };
const scheduled = { name: 'job', scheduledAt: new Date('2026-11-20T03:00:00Z') };

function lineOf<K extends EventName>(name: K, event: CronlatchEvents[K]): string[] {
  const { events, lines } = guardBench();
  events.emit(name, event);
  return lines;
}

void test('each event that must be visible without a listener is one line', () => {
  assert.deepEqual(
    lineOf('lock:failed', { ...scheduled, willRetry: false, error: new LockStorageError('no answer') }),
    [
      "error: cronlatch lock:failed 'job' (scheduled at 2026-11-20T03:00:00.000Z): the job did not run. Cause: LockStorageError: no answer",
    ],
  );
  assert.deepEqual(lineOf('lock:lost', { ...job, error: new LockLostError('too late') }), [
    "error: cronlatch lock:lost 'job': the job is still running, and its signal has aborted. Cause: LockLostError: too late",
  ]);
  assert.deepEqual(lineOf('lock:releaseFailed', { ...job, error: new LockStorageError('no answer') }), [
    "error: cronlatch lock:releaseFailed 'job': the next run cannot start before the lease expires. Cause: LockStorageError: no answer",
  ]);
  assert.deepEqual(lineOf('run:failed', { ...job, error: new RangeError('mine'), durationMs: 1 }), [
    "error: cronlatch run:failed 'job': the job failed. Cause: RangeError: mine",
  ]);
  assert.deepEqual(lineOf('run:stuck', job), [
    "error: cronlatch run:stuck 'job': its lease has expired but the job is still running; this process will not start it again until it finishes.",
  ]);
  assert.deepEqual(lineOf('guard:warning', { message: 'Look here.', error: new Error('why') }), [
    'warn: cronlatch guard:warning: Look here. Cause: Error: why',
  ]);
  for (const message of ['Is its clock right?', 'Run: ALTER TABLE shedlock;', 'Look here.'])
    assert.deepEqual(lineOf('guard:warning', { message }), [`warn: cronlatch guard:warning: ${message}`]);
});

void test('an error that cannot be read is logged as a line as well', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  assert.deepEqual(lineOf('run:failed', { ...job, error: proxy, durationMs: 1 }), [
    "error: cronlatch run:failed 'job': the job failed. Cause: an error that cannot be read",
  ]);
});

const run = { job: 'close-day', scope: '', periodKey: '2026-11-20', generation: 0, attempt: 2 };

void test('the line of a once-per job has its run, and what happens next', () => {
  const failed = { ...job, run, error: new Error('no bank'), durationMs: 1 };
  const beginning =
    "error: cronlatch run:failed 'job' job 'close-day' for 2026-11-20, attempt 2: the job failed";
  assert.deepEqual(lineOf('run:failed', failed), [`${beginning}. Cause: Error: no bank`]);
  const retryAt = new Date('2026-11-20T03:10:00Z');
  assert.deepEqual(lineOf('run:failed', { ...failed, retryAt }), [
    `${beginning}; the next attempt is at 2026-11-20T03:10:00.000Z. Cause: Error: no bank`,
  ]);
  assert.deepEqual(lineOf('run:failed', { ...failed, isFinal: true }), [
    `${beginning} permanently; only ledger.rerun() runs it again. Cause: Error: no bank`,
  ]);
  const scoped = { ...failed, run: { ...run, scope: 'eu' } };
  assert.match(lineOf('run:failed', scoped)[0] ?? '', /job 'close-day' \(eu\) for 2026-11-20, attempt 2:/);
});

void test('a crashed holder is a line: a warning if the run is retried, an error if it waits for an operator', () => {
  const lostClaim = 'host/1/abc';
  assert.deepEqual(lineOf('run:takenOver', { ...job, run, lostAttempt: 1, lostClaim }), [
    "warn: cronlatch run:takenOver 'job' job 'close-day' for 2026-11-20, attempt 2: the holder of the last attempt crashed, and this attempt repeats its work.",
  ]);
  assert.deepEqual(lineOf('run:interrupted', { ...job, run, lostClaim }), [
    "error: cronlatch run:interrupted 'job' job 'close-day' for 2026-11-20, attempt 2: its holder crashed, and the run will not be retried. Check what it did, then call ledger.resolve().",
  ]);
});

void test('the line of an unanswered tick reports that it will be retried', () => {
  const failed = { ...scheduled, willRetry: true, error: new LockStorageError('no answer') };
  assert.deepEqual(lineOf('lock:failed', failed), [
    "error: cronlatch lock:failed 'job' (scheduled at 2026-11-20T03:00:00.000Z): the job did not run; the tick will be retried. Cause: LockStorageError: no answer",
  ]);
});

void test('refused and skipped ticks are not logged, because they are normal on all other instances', () => {
  assert.deepEqual(lineOf('run:skipped', { ...job, run, reason: 'already-completed' }), []);
  const skipped = {
    ...job,
    willRetry: true,
    reason: 'locked',
    heldBy: undefined,
    heldUntil: undefined,
  } as const;
  assert.deepEqual(lineOf('lock:skipped', skipped), []);
});

void test('a thrown error stays on one line, however many lines it has', () => {
  const text = 'first\n   at second  \r\nthird';
  assert.deepEqual(lineOf('run:failed', { ...job, error: new Error(text), durationMs: 1 }), [
    "error: cronlatch run:failed 'job': the job failed. Cause: Error: first at second third",
  ]);
  for (const error of [text, { text, list: Array.from({ length: 50 }, () => text) }]) {
    const [line, ...more] = lineOf('run:failed', { ...job, error, durationMs: 1 });
    assert.ok(line?.includes('first') && !/[\r\n]/.test(line));
    assert.deepEqual(more, []);
  }
});

void test('a warning of several lines stays on one line', () => {
  assert.deepEqual(lineOf('guard:warning', { message: 'first\nsecond' }), [
    'warn: cronlatch guard:warning: first second.',
  ]);
});

void test('the message of an error keeps its trailing dots', () => {
  const error = new Error("Cannot find module '../jobs'...");
  assert.match(lineOf('run:failed', { ...job, error, durationMs: 1 })[0] ?? '', /module '\.\.\/jobs'\.\.\.$/);
});

void test('a name with dots stays unchanged', () => {
  assert.match(lineOf('run:stuck', { ...job, name: 'a..b' })[0] ?? '', /run:stuck 'a\.\.b':/);
});

for (const [thrown, shown] of [
  ['text', "'text'"],
  [null, 'null'],
  [{ code: 7 }, '{ code: 7 }'],
] as const) {
  void test(`a job that throws ${shown} is logged with that value`, async () => {
    const { guard, lines } = guardBench();
    await reasonOf(guard.run(JOB, () => Promise.reject(thrown as unknown as Error)));
    assert.deepEqual(lines, [`error: cronlatch run:failed 'job': the job failed. Cause: ${shown}`]);
  });
}
