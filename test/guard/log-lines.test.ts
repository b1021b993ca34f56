import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { type CronlatchEvents, LockLostError, LockStorageError } from 'cronlatch';
import type { EventName } from 'cronlatch/provider';
import { eventsOf, guardBench, reasonOf, recordingLogger } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';

const job = { name: 'job', scheduledAt: undefined };
const scheduled = { name: 'job', scheduledAt: new Date('2026-11-20T03:00:00Z') };

function lineOf<K extends EventName>(name: K, event: CronlatchEvents[K]): string[] {
  const logger = recordingLogger();
  const { events } = guardBench({ logger });
  events.emit(name, event);
  return logger.lines;
}

void test('each event that must be visible without a listener is one line', () => {
  assert.deepEqual(
    lineOf('lock:failed', { ...scheduled, willRetry: false, error: new LockStorageError('no answer') }),
    [
      "error: cronlatch lock:failed: job 'job' did not run (scheduled at 2026-11-20T03:00:00.000Z). Cause: LockStorageError: no answer",
    ],
  );
  assert.deepEqual(lineOf('lock:lost', { ...job, error: new LockLostError('too late') }), [
    "error: cronlatch lock:lost: job 'job' has lost its lock and is still running; its signal has aborted. Cause: LockLostError: too late",
  ]);
  assert.deepEqual(lineOf('lock:releaseFailed', { ...job, error: new LockStorageError('no answer') }), [
    "error: cronlatch lock:releaseFailed: job 'job' could not release its lock; the lock is free when its lease has expired. Cause: LockStorageError: no answer",
  ]);
  assert.deepEqual(lineOf('run:failed', { ...job, error: new RangeError('mine'), durationMs: 1 }), [
    "error: cronlatch run:failed: job 'job' failed after 1 ms. Cause: RangeError: mine",
  ]);
  assert.deepEqual(lineOf('run:stuck', job), [
    "error: cronlatch run:stuck: job 'job' is stuck; its lease has expired but the job is still running. This process will not start it again until it finishes.",
  ]);
  assert.deepEqual(lineOf('guard:warning', { message: 'Look here.', error: new Error('why') }), [
    'warn: cronlatch guard:warning: Look here. Cause: Error: why',
  ]);
  for (const message of ['Is its clock right?', 'Run: ALTER TABLE shedlock;', 'Look\nhere.'])
    assert.deepEqual(lineOf('guard:warning', { message }), [
      `warn: cronlatch guard:warning: ${message.replace('\n', ' ')}`,
    ]);
});

void test('the start of a run is logged if it is made up', () => {
  const run = { job: 'job', scope: '', periodKey: '2026-11-20', generation: 0, attempt: 1 };
  const event = { ...scheduled, run, fencingToken: undefined };
  assert.deepEqual(lineOf('run:started', { ...event, madeUp: true }), [
    "info: cronlatch run:started: job 'job' for 2026-11-20 is made up (attempt 1, scheduled at 2026-11-20T03:00:00.000Z); no instance had answered its tick.",
  ]);
  assert.match(lineOf('run:started', event)[0] ?? '', /^debug: /);
});

void test('an error that cannot be read is logged as a line as well', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  assert.deepEqual(lineOf('run:failed', { ...job, error: proxy, durationMs: 1 }), [
    "error: cronlatch run:failed: job 'job' failed after 1 ms. Cause: an error that cannot be read",
  ]);
});

const run = { job: 'close-day', scope: '', periodKey: '2026-11-20', generation: 0, attempt: 2 };

void test('the line of a once-per job has its run, and what happens next', () => {
  const failed = { ...job, run, error: new Error('no bank'), durationMs: 1 };
  const beginning = "error: cronlatch run:failed: job 'close-day' for 2026-11-20 failed";
  const details = "(attempt 2, lock 'job')";
  assert.deepEqual(lineOf('run:failed', failed), [
    `${beginning} after 1 ms ${details}. Cause: Error: no bank`,
  ]);
  const retryAt = new Date('2026-11-20T03:10:00Z');
  assert.deepEqual(lineOf('run:failed', { ...failed, retryAt }), [
    `${beginning} after 1 ms ${details}; the next attempt is at 2026-11-20T03:10:00.000Z. Cause: Error: no bank`,
  ]);
  assert.deepEqual(lineOf('run:failed', { ...failed, isFinal: true }), [
    `${beginning} permanently after 1 ms ${details}; only operations(guard).rerun() runs it again. Cause: Error: no bank`,
  ]);
  const scoped = { ...failed, run: { ...run, scope: 'eu' } };
  assert.match(lineOf('run:failed', scoped)[0] ?? '', /job 'close-day' \(eu\) for 2026-11-20 failed/);
});

void test('a crashed holder is a line: a warning if the run is retried, an error if it waits for an operator', () => {
  const lostClaim = 'host/1/abc';
  const event = { name: 'close-day', scheduledAt: undefined, run, lostClaim };
  assert.deepEqual(lineOf('run:takenOver', { ...event, lostAttempt: 1 }), [
    "warn: cronlatch run:takenOver: job 'close-day' for 2026-11-20 started again (attempt 2); the lease of the last attempt ended, and this attempt repeats its work.",
  ]);
  assert.deepEqual(lineOf('run:interrupted', event), [
    "error: cronlatch run:interrupted: job 'close-day' for 2026-11-20 was interrupted (attempt 2); its lease ended, and its holder has not come back, but may still be running. Check what it did, then call operations(guard).resolve().",
  ]);
});

void test('the line of an unanswered tick reports that it will be retried', () => {
  const failed = { ...scheduled, willRetry: true, error: new LockStorageError('no answer') };
  assert.deepEqual(lineOf('lock:failed', failed), [
    "error: cronlatch lock:failed: job 'job' did not run (scheduled at 2026-11-20T03:00:00.000Z); the tick will be retried. Cause: LockStorageError: no answer",
  ]);
});

void test('a completed run is a line with its duration, its scheduled time and its period', () => {
  assert.deepEqual(lineOf('run:completed', { ...scheduled, durationMs: 12.3 }), [
    "info: cronlatch run:completed: job 'job' completed in 12 ms (scheduled at 2026-11-20T03:00:00.000Z).",
  ]);
  const daily = { ...scheduled, name: 'close-day', run };
  assert.deepEqual(lineOf('run:completed', { ...daily, durationMs: 12 }), [
    "info: cronlatch run:completed: job 'close-day' for 2026-11-20 completed in 12 ms (attempt 2, scheduled at 2026-11-20T03:00:00.000Z).",
  ]);
  for (const [durationMs, text] of [
    [0.2, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [59_949, '59.9 s'],
    [59_951, '1 min 0 s'],
    [3_599_400, '59 min 59 s'],
    [3_599_600, '1 h 0 min'],
    [93_600_000, '26 h 0 min'],
    [7_390_000, '2 h 3 min'],
  ] as const)
    assert.deepEqual(lineOf('run:completed', { ...job, durationMs }), [
      `info: cronlatch run:completed: job 'job' completed in ${text}.`,
    ]);
});

void test('a job that ended after it had lost its lock is a warning', () => {
  assert.deepEqual(lineOf('run:completed', { ...job, durationMs: 6012, lockLost: true }), [
    "warn: cronlatch run:completed: job 'job' completed in 6.0 s, after it had lost its lock.",
  ]);
});

void test('a lock-only job that ends after its lease reports it, and a once-per job does not', async () => {
  const { guard, clock } = guardOfRuns();
  const ended = eventsOf(guard, 'run:completed');
  const outlast = (): void => void clock.advance('11m');
  await guard.run(JOB, outlast);
  await guard.run(JOB, () => {});
  assert.deepEqual(
    ended.map(({ lockLost }) => lockLost),
    [true, undefined],
  );
  await guard.run(DAILY, outlast);
  assert.equal(ended[2]?.run?.periodKey, '2026-11-20');
  assert.equal(ended[2].lockLost, undefined, 'the ledger decides about it');
});

void test('durations are whole milliseconds', async () => {
  const { guard, clock } = guardBench();
  const durations: unknown[] = [];
  for (const name of ['run:completed', 'tick'] as const)
    guard.on(name, ({ durationMs }) => void durations.push(durationMs));
  await guard.run(JOB, () => void clock.advance(12.4));
  assert.deepEqual(durations, [12, 12]);
});

/** What the default logger writes for a failed job. */
function consoleLines(error: unknown): string {
  const written = mock.method(console, 'error', () => {});
  try {
    const { events } = guardBench({ logger: console });
    events.emit('run:failed', { ...job, error, durationMs: 1 });
    assert.equal(written.mock.callCount(), 1, 'one call, so that no other line comes between');
    return String(written.mock.calls[0]?.arguments[0]);
  } finally {
    written.mock.restore();
  }
}

void test('on the console, the frames of a failed job follow its line', () => {
  const error = new RangeError('mine');
  const [line = '', ...frames] = consoleLines(error).split('\n');
  assert.match(line, /run:failed: job 'job' failed after 1 ms\. Cause: RangeError: mine$/);
  assert.deepEqual(
    frames.map((frame) => frame.trim()),
    error.stack
      ?.split('\n')
      .slice(1, 21)
      .map((frame) => frame.trim()),
  );
  assert.ok(frames.length > 0 && frames.every((frame) => /^ {4}at /.test(frame)));
});

void test('an error whose message was changed afterwards keeps its frames on the console', () => {
  const error = new Error('short');
  const frames = error.stack?.split('\n').slice(1, 21) ?? [];
  error.message = 'long'.repeat(1000);
  assert.equal(consoleLines(error).split('\n').length, 1 + frames.length);
});

void test('an error of cronlatch has no frames on the console, and neither has another thrown value', () => {
  for (const error of [new LockStorageError('no answer'), 'text', null, new Proxy({}, {})])
    assert.equal(consoleLines(error).split('\n').length, 1);
});

void test('a message with line breaks forges no line and no frame on the console', () => {
  const forged =
    "no mail\ncronlatch run:completed: job 'x' completed.\n    at forged (bank.js:1:1)\r\u001b[2K";
  const error = new Error(forged);
  const changed = new Error('before');
  changed.message = forged;
  const stackless = Object.assign(new Error('x'), { stack: `\ncronlatch run:completed\n    at \u001b[2Kx` });
  for (const each of [error, changed, stackless]) {
    const text = consoleLines(each);
    const [, ...frames] = text.split('\n');
    assert.ok(!text.includes('\u001b') && !text.includes('\r'));
    assert.ok(frames.every((frame) => /^ {4}at /.test(frame) && !frame.includes('forged')));
  }
});

void test('a run that its handler gave back or skipped has a line like any other run', () => {
  const ended = { ...job, name: 'close-day', run, durationMs: 12 };
  assert.deepEqual(lineOf('run:skipped', { ...ended, reason: 'given-back' }), [
    "info: cronlatch run:skipped: job 'close-day' for 2026-11-20 gave its run back after 12 ms (attempt 2).",
  ]);
  assert.deepEqual(lineOf('run:skipped', { ...ended, reason: 'skipped' }), [
    "info: cronlatch run:skipped: job 'close-day' for 2026-11-20 skipped its period after 12 ms (attempt 2).",
  ]);
});

void test('a run that the closing guard gave back has a line with what follows', () => {
  assert.deepEqual(lineOf('run:givenBack', { ...job, name: 'close-day', run, durationMs: 12 }), [
    "info: cronlatch run:givenBack: job 'close-day' for 2026-11-20 was stopped after 12 ms (attempt 2); the guard is closing, so an instance starts it again, and this attempt does not count.",
  ]);
});

void test('starts and skips are lines of debug, and the line of a held lock has its holder', () => {
  assert.deepEqual(lineOf('run:started', { ...scheduled, fencingToken: 7 }), [
    "debug: cronlatch run:started: job 'job' started (scheduled at 2026-11-20T03:00:00.000Z).",
  ]);
  const refused = { ...job, name: 'close-day', run: { ...run, attempt: 0 } };
  assert.deepEqual(lineOf('run:skipped', { ...refused, reason: 'already-completed' }), [
    "debug: cronlatch run:skipped: job 'close-day' for 2026-11-20 skipped: already-completed.",
  ]);
  const skipped = { ...job, reason: 'locked', heldBy: undefined, heldUntil: undefined } as const;
  assert.deepEqual(lineOf('lock:skipped', { ...skipped, willRetry: true }), [
    "debug: cronlatch lock:skipped: job 'job' skipped: locked; the tick will be retried.",
  ]);
  const held = { heldBy: 'host/1/abc', heldUntil: new Date('2026-11-20T03:10:00Z') };
  assert.deepEqual(lineOf('lock:skipped', { ...skipped, ...held, willRetry: false }), [
    "debug: cronlatch lock:skipped: job 'job' skipped: locked by host/1/abc until 2026-11-20T03:10:00.000Z.",
  ]);
});

void test('a thrown error stays on one line, however many lines it has', () => {
  const text = 'first\n   at second  \r\nthird';
  assert.deepEqual(lineOf('run:failed', { ...job, error: new Error(text), durationMs: 1 }), [
    "error: cronlatch run:failed: job 'job' failed after 1 ms. Cause: Error: first at second third",
  ]);
  for (const error of [text, { text, list: Array.from({ length: 50 }, () => text) }])
    assert.match(failureLine(error), /^[^\r\n]*first[^\r\n]*$/);
});

void test('the message of an error keeps its trailing dots', () => {
  assert.match(failureLine(new Error("Cannot find module '../jobs'...")), /module '\.\.\/jobs'\.\.\.$/);
});

void test('a name with dots stays unchanged', () => {
  assert.match(lineOf('run:stuck', { ...job, name: 'a..b' })[0] ?? '', /run:stuck: job 'a\.\.b' /);
});

for (const [thrown, shown] of [
  ['text', "'text'"],
  [null, 'null'],
  [{ code: 7 }, '{ code: 7 }'],
] as const) {
  void test(`a job that throws ${shown} is logged with that value`, async () => {
    const { guard, lines } = guardBench();
    await reasonOf(guard.run(JOB, () => Promise.reject(thrown as unknown as Error)));
    assert.deepEqual(lines, [`error: cronlatch run:failed: job 'job' failed after 0 ms. Cause: ${shown}`]);
  });
}

const PREFIX = "error: cronlatch run:failed: job 'job' failed after 1 ms. Cause: ";

function failureLine(error: unknown): string {
  const [line = '', ...more] = lineOf('run:failed', { ...job, error, durationMs: 1 });
  assert.deepEqual(more, []);
  return line;
}

void test('a line has no characters that move the cursor, end the line, change the text direction or are invisible (F-97)', () => {
  const codes = [...Array(0x20).keys(), ...Array.from({ length: 0x21 }, (_, index) => 0x7f + index)];
  const invisible = [0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0x2064, 0xfeff, 0xfe0f, 0xe0001, 0xe0041, 0xe007f];
  const bidi = [
    0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069,
  ];
  for (const code of [...codes, ...bidi, ...invisible, 0x2028, 0x2029]) {
    const line = failureLine(new Error(`before${String.fromCodePoint(code)}after`));
    assert.doesNotMatch(
      line,
      /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\p{Default_Ignorable_Code_Point}]/u,
      code.toString(16),
    );
    assert.match(line, /before.*after$/);
  }
});

void test('line breaks become spaces, and the text stays readable without the other characters', () => {
  assert.equal(failureLine(new Error('one\r\ntwo\u0085three')), `${PREFIX}Error: one two three`);
  assert.equal(failureLine(new Error('\u001b[2K\u202egreen')), `${PREFIX}Error: \\u001b[2K\\u202egreen`);
  assert.equal(failureLine(new Error('Zoë paid 3 €, 👍')), `${PREFIX}Error: Zoë paid 3 €, 👍`);
});

void test('a long line is truncated, with the number of missing characters', () => {
  const line = failureLine(new Error('x'.repeat(5_000_000)));
  assert.ok(line.length < 9000);
  assert.match(line, /x… \(4[\d,]+ more characters\)$/);
  assert.ok(failureLine(new Error('\u001b'.repeat(5_000_000))).length < 9000);
  assert.ok(failureLine(new Error('x'.repeat(8100))).endsWith('x'));
});

void test('truncation does not leave half a character', () => {
  for (const length of [8000, 8001]) {
    const line = failureLine(new Error(`${'x'.repeat(length)}${'👍'.repeat(500)}`));
    assert.match(line, /👍… \([\d,]+ more characters\)$/);
    assert.ok(!line.includes('\ufffd'));
  }
});
