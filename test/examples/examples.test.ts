import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { testOnEvery } from '../support/databases';

interface Example {
  readonly file: string;
  readonly shows: string;
  readonly check: (lines: readonly string[]) => void;
  /** What it may print on standard error, depending on its ticks. */
  readonly mayWarn?: RegExp;
}

const EXAMPLES: readonly Example[] = [
  {
    file: '01-decorator',
    shows: 'of two simultaneous calls, one runs',
    check(lines) {
      assert.deepEqual(lines, [
        'closing the day, called by the first',
        'the first call: closed',
        'the second call: skipped',
        'a late call: skipped',
      ]);
    },
  },
  {
    file: '02-node-cron',
    shows: 'a job runs at its ticks, and the process ends',
    check(lines) {
      assert.equal(lines.at(0), 'sending invoices');
      assert.equal(lines.at(-1), 'closed');
    },
  },
  {
    file: '03-keep-alive',
    shows: 'a job outlives its first lease, and stops when its lock is lost',
    check(lines) {
      // The number of renewals in three seconds depends on the machine.
      assert.deepEqual(withoutRepetitions(lines), [
        'a job of three seconds',
        'renewed for 2000 ms',
        'released, still held: true',
        'a job of an hour',
        `Lock 'export-orders' was lost while its job was running: its record no longer belongs to this process.`,
        'released, still held: false',
        'it ended with an AbortError',
      ]);
    },
  },
  {
    file: '05-two-processes',
    shows: 'one process runs each tick, and the job continues if the other is killed',
    check(lines) {
      const runs = lines.flatMap((line) => runIn(line) ?? []);
      const [killed] = lines.flatMap((line) => /^(\w+) is killed$/.exec(line)?.[1] ?? []);
      assert.equal(new Set(runs.map(({ tick }) => tick)).size, runs.length, 'no tick is run twice');
      assert.deepEqual(
        runs.slice(1).map(({ worker }) => worker === killed),
        [true, false, false],
      );
      assert.equal(lines.at(-1), 'all have ended');
    },
  },
  {
    file: '06-once-per-business-day',
    shows: 'a completed day does not run again, not even on another instance',
    check(lines) {
      const inLedger = 'the ledger: completed, attempts 1, result "closed"';
      assert.deepEqual(lines, [
        'closing the day, attempt 1',
        'the first instance: closed',
        inLedger,
        'another one, an hour later is skipped: already-completed',
        'another one, an hour later: skipped',
        inLedger,
      ]);
    },
  },
  {
    file: '07-retry-and-catch-up',
    shows: 'failed and missed runs start without a tick, today first',
    check(lines) {
      assert.deepEqual(lines, [
        'missed: 2 days',
        'the report of 0 days ago, attempt 1',
        'failed, will be retried: Error: the figures have not arrived yet',
        'the report of 2 days ago, attempt 1',
        'the report of 1 days ago, attempt 1',
        'the tick of today has ended',
        'the report of 0 days ago, attempt 2',
        'missed: 0 days',
      ]);
    },
  },
  {
    file: '08-exactly-once-effects',
    shows: 'a replaced run leaves no effect, and its successor leaves one',
    check(lines) {
      assert.deepEqual(lines, [
        'the day will run again, as generation 1',
        'the first run: ClaimLostError, its writes are rolled back',
        'has an idempotency key: true',
        'the second run: paid',
        'a third call: skipped',
        'payouts: 1',
      ]);
    },
  },
  {
    file: '10-node-cron-coordinator',
    shows: 'of two instances one is elected for each tick, which the ledger keeps',
    mayWarn: /^cronlatch guard:warning: .* recorded as failed \(closing\)\. .*\n/,
    check(lines) {
      const runs = lines.flatMap((line) => /^(one|the other) runs$/.exec(line)?.[1] ?? []);
      assert.ok(runs.length >= 1);
      const refused = lines.some((line) => /^(one|the other) does not run: not-elected$/.test(line));
      assert.ok(refused || runs.length >= 2, 'on a busy machine they may get different ticks');
      assert.deepEqual(lines.slice(-2), [`the ledger: completed, "by ${runs[0]}"`, 'elected again: false']);
    },
  },
  {
    file: '11-croner',
    shows: 'one of two instances runs each tick',
    check(lines) {
      const ticks = lines.flatMap((line) => /^([\d:]{8}) runs \(instance [12]\)$/.exec(line)?.[1] ?? []);
      assert.ok(ticks.length >= 2, 'on a busy machine there are fewer than four');
      assert.equal(new Set(ticks).size, ticks.length, 'no tick is run twice');
      assert.equal(lines.length, ticks.length + 1);
      assert.equal(lines.at(-1), 'closed');
    },
  },
];

/** One for each run, with its duration. */
const LOG_LINE = /^cronlatch run:completed: job '[\w-]+' .*completed in [\d.]+ m?s/;

/** What an example prints, without log lines. Rejects if it ends with another status than 0, or not at all. */
async function outputOf(
  file: string,
  environment: Record<string, string>,
  mayWarn: RegExp = /^$/,
): Promise<string[]> {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [join(__dirname, '../../examples', `${file}.js`)],
    { env: { ...process.env, DATABASE_URL: undefined, ...environment }, timeout: 60_000 },
  );
  assert.equal(stderr.replace(mayWarn, ''), '');
  const lines = stdout.trimEnd().split('\n');
  return lines.filter((line) => !LOG_LINE.test(line));
}

function runIn(line: string): { tick: string; worker: string } | undefined {
  const [, tick, worker] = /^([\d:]{8}) runs \((\w+)\)$/.exec(line) ?? [];
  return tick === undefined || worker === undefined ? undefined : { tick, worker };
}

function withoutRepetitions(lines: readonly string[]): string[] {
  return lines.filter((line, index) => line !== lines[index - 1]);
}

for (const { file, shows, check, mayWarn } of EXAMPLES) {
  // They wait more than they work.
  void describe(file, { concurrency: true }, () => {
    testOnEvery(shows, async ({ environment }) => check(await outputOf(file, environment, mayWarn)));
  });
}

void test('04-own-lock-provider: a lock is kept until lockAtLeastFor has passed, and expires', async () => {
  assert.deepEqual(await outputOf('04-own-lock-provider', {}), [
    'here: rotating, with fencing token 1',
    `there, meanwhile: { executed: false, reason: 'locked' }`,
    `there, afterwards: { executed: false, reason: 'locked' }`,
    'expires within 30 s: true',
  ]);
});
