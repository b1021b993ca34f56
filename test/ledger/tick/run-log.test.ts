import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConsoleLogger, Logger } from '@nestjs/common';
import {
  currentRun,
  InvalidLockConfigurationError,
  InvalidLockUseError,
  LockStorageError,
  type JobGuardOptions,
} from 'cronlatch';
import { asRun, SettableClock } from 'cronlatch/testing';
import { pino } from 'pino';
import { overlay } from '../../storage/contract-mutants/overlay';
import { signal } from '../../support/benches/executor';
import { DAILY, guardOfRuns, type GuardOfRuns } from '../../support/benches/guard-of-runs';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import type { RunLogEntry, RunLogStore } from '#cronlatch/ledger/run-log-store';
import type { RunStore } from '#cronlatch/ledger/run-store';

const RETRIED = { ...DAILY, oncePer: { ...DAILY.oncePer, retry: { initialDelay: '1s' } } } as const;

type Appended = Parameters<RunLogStore['append']>;

/** A store with logs in memory, which keeps no log while `failsBy` returns an error. */
function storeWithLogs(runs: InMemoryRunStore, failsBy: () => Error | undefined): RunStore {
  const entries: (RunLogEntry & { readonly periodKey: string })[] = [];
  const append = ([{ periodKey, generation, attempt }, { lines }]: Appended): void => {
    entries.push({ periodKey, id: entries.length + 1, at: new Date(), generation, attempt, lines });
  };
  const logs: RunLogStore = {
    async append(...appended) {
      await Promise.resolve();
      const error = failsBy();
      if (error !== undefined) throw error;
      append(appended);
    },
    read: ({ periodKey }, after) =>
      Promise.resolve(
        entries.filter((each) => each.periodKey === periodKey && each.id > after && each.lines),
      ),
  };
  return overlay<RunStore>(runs, { logs });
}

function guardWithLogs(
  options: Partial<JobGuardOptions> = {},
  failsBy: () => Error | undefined = () => undefined,
): GuardOfRuns {
  const clock = new SettableClock();
  const runStore = storeWithLogs(new InMemoryRunStore({ clock }), failsBy);
  const bench = guardOfRuns({ keepLog: '64 kB', ...options, runStore, clock });
  return { ...bench, clock };
}

/** The entries of the only run, after all of them were written. */
async function entriesOf({ guard }: GuardOfRuns): Promise<readonly RunLogEntry[]> {
  await guard.close();
  const run = await guard.ledger.last(DAILY.name);
  assert.ok(run);
  return await guard.ledger.log(run);
}

async function linesOf(bench: GuardOfRuns): Promise<string[]> {
  return (await entriesOf(bench)).flatMap(({ lines }) => lines.slice(0, -1).split('\n'));
}

function warningsOf({ guard }: GuardOfRuns): { message: string; error?: unknown }[] {
  const warnings: { message: string; error?: unknown }[] = [];
  guard.on('guard:warning', (event) => void warnings.push(event));
  return warnings;
}

void test('a run keeps what console, Nest and pino print in it, and nothing that is printed elsewhere', async () => {
  const bench = guardWithLogs();
  const nest = new ConsoleLogger('Jobs', { json: true });
  Logger.overrideLogger(nest);
  const toStdout = pino({ base: null, timestamp: false }, { write: (line) => process.stdout.write(line) });
  const streamWrite = (line: string): string => {
    currentRun({ optional: true })?.log(line);
    return line;
  };
  const anywhere = pino({ base: null, timestamp: false, hooks: { streamWrite } }, { write: () => {} });
  const isLate = signal();
  let late: Promise<void> | undefined;
  await bench.guard.run(DAILY, async () => {
    console.log('of %s', 'console');
    await Promise.resolve();
    console.error('\u001b[31mof stderr\u001b[39m');
    new Logger('Jobs').warn('of Nest');
    toStdout.info('of pino');
    anywhere.info('of a transport');
    late = isLate.promise.then(() => console.log('after the end'));
  });
  console.log('outside');
  isLate.resolve();
  await late;
  await bench.guard.run({ name: 'only-a-lock', lockAtMostFor: '1m' }, () => console.log('of a lock'));
  const lines = await linesOf(bench);
  assert.match(lines[2] ?? '', /"level":"warn".*"message":"of Nest"/);
  assert.deepEqual(lines.toSpliced(2, 1), [
    'of console',
    'of stderr',
    '{"level":30,"msg":"of pino"}',
    '{"level":30,"msg":"of a transport"}',
  ]);
});

void test('a log that lines have filled exactly has its mark when more follows', async () => {
  const bench = guardWithLogs({ keepLog: 20 });
  await bench.guard.run(DAILY, () => {
    for (const line of ['123456789', '123456789', 'more', 'and more']) currentRun().log(line);
  });
  assert.deepEqual(await linesOf(bench), [
    '123456789',
    '123456789',
    '… (cut: the log has reached the size of keepLog)',
  ]);
});

void test('a log takes any value, a character in two parts, and a line in any number of parts', async () => {
  const bench = guardWithLogs();
  await bench.guard.run(DAILY, () => {
    currentRun().log(5 as never);
    const bytes = Buffer.from('für\n');
    process.stdout.write(bytes.subarray(0, 2));
    process.stdout.write(bytes.subarray(2));
    for (let parts = 0; parts < 1000; parts += 1) process.stdout.write('.');
  });
  assert.deepEqual(await linesOf(bench), ['5', 'für', '.'.repeat(1000)]);
});

void test('parts of a line become one line, and a last line without an end is kept', async () => {
  const bench = guardWithLogs({ keepLog: 1000 });
  await bench.guard.run(DAILY, () => {
    process.stdout.write('50 %\r');
    process.stdout.write('one ');
    process.stdout.write(Buffer.from('line\r\n\n'));
    process.stdout.write('the last');
  });
  assert.deepEqual(await linesOf(bench), ['50 %', 'one line', '', 'the last']);
});

void test('the log of an attempt ends with a mark where its size is reached, and the next attempt has its own', async () => {
  const bench = guardWithLogs({ keepLog: '1 kB' });
  const all = Array.from({ length: 300 }, (_, line) => `line ${String(line).padStart(3, '0')}\n`);
  const first = bench.guard.run(RETRIED, () => {
    for (const line of all) currentRun().log(line);
    throw new Error('mine');
  });
  await assert.rejects(first, /mine/);
  bench.clock.advance('1m');
  await bench.guard.run(RETRIED, () => console.log('again'));
  const lines = (await entriesOf(bench)).map(({ attempt, lines: text }) => [attempt, text]);
  // Each line has nine bytes.
  const kept = all.slice(0, 111).join('');
  assert.deepEqual(lines, [
    [1, `${kept}… (cut: the log has reached the size of keepLog)\n`],
    [2, 'again\n'],
  ]);
});

void test('a log of a megabyte is kept whole, in entries that a row has room for', async () => {
  const bench = guardWithLogs({ keepLog: '1 MB' });
  const line = `${'😀'.repeat(2000)}\n`;
  await bench.guard.run(DAILY, () => {
    for (let count = 0; count < 120; count += 1) currentRun().log(line);
  });
  const entries = await entriesOf(bench);
  assert.equal(entries.map(({ lines }) => lines).join(''), line.repeat(120));
  for (const { lines } of entries) assert.ok(lines.length <= 64 * 1024);
});

void test('a run that goes on writes at most once a second', async () => {
  const bench = guardWithLogs();
  await bench.guard.run(DAILY, async () => {
    for (const second of [1, 2]) {
      console.log(`${second} a`);
      bench.clock.advance('0.9s');
      console.log(`${second} b`);
      bench.clock.advance('0.1s');
      await new Promise((resolve) => setImmediate(resolve));
    }
    currentRun().progress(1);
    console.log('the rest');
  });
  const entries = (await entriesOf(bench)).map(({ lines }) => lines);
  assert.deepEqual(entries, ['1 a\n1 b\n', '2 a\n2 b\n', 'the rest\n']);
});

void test('redact changes each line before it is stored, and what it prints itself is not kept', async () => {
  const redact = (line: string): string => {
    console.log('redacting');
    return line.replace(/token=\w+/, 'token=***');
  };
  const bench = guardWithLogs({ redact });
  await bench.guard.run(DAILY, () => {
    process.stdout.write('tok');
    console.log('en=abc of a customer');
  });
  assert.deepEqual(await linesOf(bench), ['token=*** of a customer']);
});

void test('a line is lost if redact fails, and one warning names the run and not the line', async () => {
  const redact = (line: string): string => {
    if (line === 'nothing') return undefined as unknown as string;
    return JSON.stringify(JSON.parse(line));
  };
  const bench = guardWithLogs({ redact });
  const warnings = warningsOf(bench);
  await bench.guard.run(DAILY, () => {
    for (const line of ['secret', '{"fine":1}', 'nothing', 'secret']) console.log(line);
  });
  assert.deepEqual(await linesOf(bench), ['{"fine":1}']);
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0]?.message ?? '',
    /^The option redact returned no text for a line of the run of job 'close-day'/,
  );
  assert.deepEqual([warnings[0]?.error, /secret/.test(JSON.stringify(warnings))], [undefined, false]);
});

void test('a store that fails to keep a log never fails the run, and is warned of once until it works', async () => {
  let error: Error | undefined = new LockStorageError('the disk is full', { outcome: 'unknown' });
  const bench = guardWithLogs({}, () => error);
  const warnings = warningsOf(bench);
  const print = async (at: string): Promise<void> => {
    const { executed } = await bench.guard.run({ ...DAILY, at: new Date(at) }, () => console.log(at));
    assert.equal(executed, true);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await print('2026-11-20T12:00Z');
  await print('2026-11-21T12:00Z');
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0]?.message ?? '',
    /^Could not store a part of the log of the run of job 'close-day' for 2026-11-20/,
  );
  assert.equal(warnings[0]?.error, error);
  error = undefined;
  await print('2026-11-22T12:00Z');
  error = new Error('again');
  await print('2026-11-23T12:00Z');
  await bench.guard.close();
  assert.equal(warnings.length, 2);
  const logs = ['2026-11-20', '2026-11-22'].map((periodKey) =>
    bench.guard.ledger.log({ job: DAILY.name, periodKey }),
  );
  assert.deepEqual(
    (await Promise.all(logs)).map((entries) => entries.map(({ lines }) => lines)),
    [[], ['2026-11-22T12:00Z\n']],
  );
});

void test('closing a guard waits for the last lines, also of a run that is still going on', async () => {
  const bench = guardWithLogs();
  const end = signal();
  const started = signal();
  const run = bench.guard.run(DAILY, async () => {
    console.log('still running');
    started.resolve();
    await end.promise;
  });
  await started.promise;
  await bench.guard.close({ timeout: 0 });
  const last = await bench.guard.ledger.last(DAILY.name);
  assert.ok(last);
  assert.deepEqual(
    (await bench.guard.ledger.log(last)).map(({ lines }) => lines),
    ['still running\n'],
  );
  end.resolve();
  await run;
});

void test('progress refuses any other value than a whole number, and works in a test of a job', async () => {
  await asRun({ job: 'import' }, () => {
    for (const invalid of [-1, 0.5, NaN, Infinity, '3', 2 ** 60] as number[]) {
      assert.throws(
        () => currentRun().progress(invalid, 10),
        (error) => error instanceof InvalidLockUseError && error.message.includes(`job 'import': done is `),
      );
      assert.throws(() => currentRun().progress(1, invalid), /total is .* Pass a whole number of at least 0/);
    }
    currentRun().progress(0, 0);
    currentRun().log('a line');
  });
});

void test('an invalid keepLog or redact is refused by name', () => {
  for (const keepLog of [0, -1, 1_000_001, NaN, '64', '2 MB', '64 kilobytes', '', true] as string[])
    assert.throws(
      () => guardWithLogs({ keepLog }),
      (error) =>
        error instanceof InvalidLockConfigurationError &&
        /^keepLog is .*'64 kB', at most '1 MB'/.test(error.message),
    );
  assert.throws(() => guardWithLogs({ redact: 'x' as never }), /redact is "x"/);
  assert.throws(() => guardOfRuns({ keepLog: '64 kB' }), /the run store of this guard keeps no logs/);
  for (const keepLog of [1, 1_000_000, '64 kB', '1MB', '500 b', false] as const) guardWithLogs({ keepLog });
});
