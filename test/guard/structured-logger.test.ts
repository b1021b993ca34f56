import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { LockStorageError, structured } from 'cronlatch';
import type { LogLevel } from 'cronlatch/provider';
import { guardBench, reasonOf } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';

const scheduledAt = new Date('2026-11-20T03:00:00Z');

/** As in the owners of the locks of this process. */
const instance = `${hostname()}/${process.pid}`;

type Entry = [level: LogLevel, fields: object, message: string];

/** A logger whose methods need their `this`, as those of pino do. */
class RecordingLogger {
  readonly entries: Entry[] = [];

  error(fields: object, message: string): void {
    this.entries.push(['error', fields, message]);
  }
  warn(fields: object, message: string): void {
    this.entries.push(['warn', fields, message]);
  }
  info(fields: object, message: string): void {
    this.entries.push(['info', fields, message]);
  }
  debug(fields: object, message: string): void {
    this.entries.push(['debug', fields, message]);
  }
}

void test('a structured logger gets the fields of each event, and a message without them', async () => {
  const logger = new RecordingLogger();
  const { guard, clock } = guardBench({ logger: structured(logger) });
  await guard.run({ ...JOB, scheduledAt }, ({ fencingToken }) => {
    assert.equal(typeof fencingToken, 'number');
    clock.advance(12);
  });
  const [started, completed, ...others] = logger.entries;
  assert.deepEqual(others, []);
  assert.deepEqual(
    [started?.[0], Object.keys(started?.[1] ?? {}).sort()],
    ['debug', ['event', 'fencingToken', 'instance', 'job', 'lock', 'scheduledAt']],
  );
  assert.deepEqual(completed, [
    'info',
    { event: 'run:completed', instance, lock: 'job', job: 'job', scheduledAt, durationMs: 12 },
    "job 'job' completed in 12 ms (scheduled at 2026-11-20T03:00:00.000Z)",
  ]);
});

void test('an error is the field err, and the run of a once-per job the field run', async () => {
  const logger = new RecordingLogger();
  const { guard } = guardOfRuns({ logger: structured(logger) });
  const error = new Error('no bank\ntoday');
  assert.equal(await reasonOf(guard.run(DAILY, () => Promise.reject(error))), error);
  const retryAt = new Date('2026-11-20T03:01:00Z');
  const run = { job: 'close-day', scope: '', periodKey: '2026-11-20', generation: 0, attempt: 1 };
  assert.deepEqual(logger.entries.at(-1), [
    'error',
    {
      event: 'run:failed',
      instance,
      lock: 'close-day',
      job: 'close-day',
      run,
      durationMs: 0,
      retryAt,
      err: error,
    },
    "job 'close-day' for 2026-11-20 failed after 0 ms (attempt 1); the next attempt is at 2026-11-20T03:01:00.000Z",
  ]);
});

void test('a skip and a warning have their fields', () => {
  const logger = new RecordingLogger();
  const { events } = guardBench({ logger: structured(logger) });
  const held = { heldBy: 'host/1/abc', heldUntil: new Date('2026-11-20T03:10:00Z') };
  events.emit('lock:skipped', { name: 'job', scheduledAt, reason: 'locked', willRetry: false, ...held });
  const err = new LockStorageError('no answer');
  events.emit('guard:warning', { message: 'Look\u001b[2K\nhere.', error: err });
  assert.deepEqual(logger.entries, [
    [
      'debug',
      {
        event: 'lock:skipped',
        instance,
        lock: 'job',
        scheduledAt,
        reason: 'locked',
        willRetry: false,
        ...held,
      },
      "job 'job' skipped: locked by host/1/abc until 2026-11-20T03:10:00.000Z (scheduled at 2026-11-20T03:00:00.000Z)",
    ],
    ['warn', { event: 'guard:warning', instance, err }, 'Look\\u001b[2K here.'],
  ]);
});

void test('the field instance begins with the name of the instance', async () => {
  const logger = new RecordingLogger();
  const { guard } = guardBench({ logger: structured(logger), instanceName: 'node-7' });
  await guard.run(JOB, () => {});
  assert.deepEqual(
    logger.entries.map(([, fields]) => 'instance' in fields && fields.instance),
    [`node-7:${instance}`, `node-7:${instance}`],
  );
});
