import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError, SchemaMismatchError, type JobGuardOptions } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { eventsOf, guardBench, reasonOf, recordingLogger, withoutProcess } from '../support/benches/guard';
import { JOB, turn } from '../support/benches/lock';

const NAMES = ['close-day', 'send-invoices', 'sync-stock', 'clean-up'];

/** A guard on a store that can be turned off, with the lines of its log. */
function outageBench(options: Partial<JobGuardOptions> = {}) {
  const { provider, clock, events } = guardBench({ logger: false });
  const details: string[] = [];
  const { lines, error, warn, info } = recordingLogger();
  const debug = (line: string): void => void details.push(withoutProcess(line));
  const logger = { error, warn, info, debug };
  const store: { failure?: Error | undefined; probes: number } = { probes: 0 };
  const lockProvider: LockProvider = {
    lock: async (...args) => {
      if (store.failure !== undefined) throw store.failure;
      return await provider.lock(...args);
    },
    async probe() {
      store.probes += 1;
      if (store.failure !== undefined) throw store.failure;
      await Promise.resolve();
    },
  };
  const bench = guardBench({ lockProvider, clock, events, logger, ...options });
  return {
    ...{ ...bench, clock, events, store, lines, details },
    tick: async (name: string = JOB.name) =>
      void (await bench.guard.run({ ...JOB, name }, () => {}).catch(() => {})),
    /** Lets time pass, with all timers of each second. */
    pass: async (seconds: number, eachSecond: (second: number) => Promise<void> = async () => {}) => {
      for (let second = 1; second <= seconds; second += 1) {
        clock.advance('1s');
        await turn();
        await eachSecond(second);
      }
    },
  };
}

const unreachable = () => new LockStorageError('connect ECONNREFUSED', { outcome: 'nothing-ran' });

void test('an outage of 35 s with four jobs is at most 6 lines, with its length and the lost ticks', async () => {
  const { guard, store, lines, details, tick, pass } = outageBench();
  const ended = eventsOf(guard, 'guard:outage');
  const tickAll = async (): Promise<void> => {
    for (const name of NAMES) await tick(name);
  };
  store.failure = unreachable();
  await tickAll();
  await pass(34, async (second) => (second % 5 === 0 ? await tickAll() : undefined));
  store.failure = undefined;
  await pass(3);
  assert.deepEqual(lines, [
    "error: cronlatch lock:failed: job 'close-day' did not run. Cause: LockStorageError: connect ECONNREFUSED",
    'warn: cronlatch guard:warning: The store of the locks has not answered for 1.0 s; 4 ticks did not run (close-day, send-invoices, sync-stock, clean-up). Until it answers, its failures are logged at debug, and this warning once a minute. Cause: LockStorageError: connect ECONNREFUSED.',
    'info: cronlatch guard:outage: The store of the locks answers again after 36.0 s; 28 ticks did not run (close-day, send-invoices, sync-stock, clean-up).',
  ]);
  assert.equal(details.filter((line) => line.includes('lock:failed')).length, 27);
  const lostTicks = Object.fromEntries(NAMES.map((name) => [name, 7]));
  assert.deepEqual(
    ended.map(({ lastedMs, lostTicks }) => ({ lastedMs, lostTicks })),
    [{ lastedMs: 36_000, lostTicks }],
  );
  await tickAll();
  assert.equal(lines.filter((line) => line.includes('run:completed')).length, 4);
});

void test('a long outage is one warning a minute', async () => {
  const { store, lines, tick, pass } = outageBench();
  store.failure = unreachable();
  await tick();
  await pass(200, async () => await tick());
  const warnings = lines.filter((line) => line.startsWith('warn:'));
  assert.deepEqual(
    warnings.map((line) => /for (.+?);/.exec(line)?.[1]),
    ['1.0 s', '1 min 1 s', '2 min 1 s', '3 min 1 s'],
  );
  assert.equal(lines.length, 5, 'and the line of the first failure');
});

void test('a failure while the store answers has its own line, and so has each that follows', async () => {
  const { store, lines, tick, pass } = outageBench();
  for (const text of ['first', 'second']) {
    store.failure = new LockStorageError(text);
    await tick(text);
  }
  store.failure = undefined;
  await pass(1);
  assert.deepEqual(lines, [
    "error: cronlatch lock:failed: job 'first' did not run. Cause: LockStorageError: first",
    "error: cronlatch lock:failed: job 'second' did not run. Cause: LockStorageError: second",
  ]);
  await pass(60);
  assert.equal(store.probes, 1);
});

void test('failures that are not of the store are logged as ever during an outage', async () => {
  const { guard, events, store, lines, tick, pass } = outageBench();
  store.failure = unreachable();
  await tick();
  await pass(2);
  const before = lines.length;
  events.emit('guard:warning', { message: 'Look here.' });
  store.failure = new SchemaMismatchError('no table');
  await tick();
  store.failure = new LockStorageError('deadlock', { outcome: 'contention' });
  await tick();
  store.failure = unreachable();
  await reasonOf(guard.run({ ...JOB, lockAtMostFor: '0s' }, () => {}));
  const event = { name: 'job', scheduledAt: undefined, durationMs: 1 };
  events.emit('run:failed', { ...event, error: new LockStorageError('of the job') });
  assert.deepEqual(
    lines.slice(before).map((line) => line.split(' ', 3)[2]),
    ['guard:warning:', 'lock:failed:', 'lock:failed:', 'run:failed:'],
  );
});

void test('ticks that the guard retries are counted', async () => {
  const { events, store, lines, pass } = outageBench();
  store.failure = unreachable();
  const event = { name: 'close-day', scheduledAt: undefined, error: store.failure };
  events.emit('lock:failed', { ...event, willRetry: true });
  events.emit('tick', { ...event, outcome: 'lock-failed' });
  await pass(2);
  store.failure = undefined;
  await pass(5);
  assert.match(lines.at(-1) ?? '', /; 1 tick did not run \(close-day\); the guard retries 1 of them\.$/);
});

void test('a probe without an answer is an outage', async () => {
  const never = new Promise<void>(() => {});
  const lockProvider: LockProvider = { lock: () => Promise.reject(unreachable()), probe: () => never };
  const { lines, tick, pass } = outageBench({ lockProvider });
  await tick();
  await pass(3);
  assert.match(lines.at(-1) ?? '', /^warn: .* has not answered for 3\.0 s.* Cause: no answer to a probe\.$/);
});

void test('a lock provider that cannot be probed has a line for each failure', async () => {
  const { lines, tick } = outageBench({ lockProvider: { lock: () => Promise.reject(unreachable()) } });
  await tick();
  await tick();
  assert.equal(lines.length, 2);
});

void test('a closing guard sends no more probes, and writes the lines that wait', async () => {
  const { guard, store, lines, tick, pass } = outageBench();
  store.failure = unreachable();
  await tick('first');
  await tick('second');
  assert.equal(lines.length, 1);
  await guard.close();
  assert.match(lines[1] ?? '', /lock:failed: job 'second'/);
  await pass(10);
  assert.deepEqual([lines.length, store.probes], [2, 0]);
});
