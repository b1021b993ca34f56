import assert from 'node:assert/strict';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { currentRun } from 'cronlatch';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import { cronlatch, testInFolder } from '../cli/cronlatch';
import { wordsOf } from '../cli/operated';
import { dailyJob, ledgerOf, register, registerEarlierIn } from '../cli/year-of-runs';
import { closing } from '../support/benches/closing';
import { codeBlocksOf, tableOf } from '../support/checks/page';
import { eventually } from '../support/clocks/eventually';
import { commandWith } from '../support/processes/command';

const PAGE = 'docs/command-line.md';
const DATABASE_URL = 'sqlite:jobs.db';
const [HOUR_MS, DAY_MS] = [3_600_000, 86_400_000];

/** The calls of commands for operators on the page, each with the output below it. */
const calls = codeBlocksOf(PAGE).flatMap(({ language, text }, position, blocks) => {
  const before = blocks[position - 1];
  const isCall = language === 'text' && /^npx cronlatch (?!init|sql)/.test(before?.text ?? '');
  return isCall ? [{ call: before?.text.trim() ?? '', output: text }] : [];
});

testInFolder('the outputs on the page are those of two calls of init', async (cwd) => {
  const outputs = new Set(calls.map(({ output }) => output));
  const shown = codeBlocksOf(PAGE).filter(({ language, text }) => language === 'text' && !outputs.has(text));
  assert.equal(shown.length, 2);
  for (const { text } of shown) {
    const { stdout } = await cronlatch(['init'], { cwd, env: { DATABASE_URL } });
    assert.equal(stdout.replace(/\(.+\/jobs\.db\)/, '(/srv/billing/jobs.db)'), text);
  }
  assert.ok(existsSync(join(cwd, 'jobs.db')));
});

testInFolder(
  'the other outputs on the page are those of the calls above them, in their order',
  async (cwd) => {
    assert.ok(calls.length >= 12);
    await fill(cwd);
    for (const { call, output } of calls) {
      const owner = await ownerIn(cwd, call);
      const args = wordsOf(moved(call.replace('npx cronlatch ', ''), TODAY, PAGE_DAY)).map((word) =>
        UUID.test(word) ? owner : word,
      );
      const { stdout, stderr } = await cronlatch(args, { cwd, env: { DATABASE_URL } });
      assert.deepEqual([plain(moved(stdout, PAGE_DAY, TODAY)), stderr], [plain(output), ''], call);
    }
  },
);

testInFolder('the calls of exec, pause and resume on the page print what it shows', async (cwd) => {
  const shown = codeBlocksOf(PAGE)
    .filter(({ language }) => language === 'console')
    .flatMap(({ text }) => text.split(/^\$ /m).slice(1));
  const script = join(cwd, 'close-day.sh');
  writeFileSync(script, '#!/bin/sh\necho "closing $CRONLATCH_BUSINESS_DATE, attempt $CRONLATCH_ATTEMPT"\n');
  chmodSync(script, 0o755);
  const env = { DATABASE_URL };
  await cronlatch(['init'], { cwd, env });
  await using guard = closing(
    await createJobGuard(`sqlite:${join(cwd, 'jobs.db')}`, { pollInterval: false }),
  );
  await guard.lockManager().tryLock({ name: 'nightly-export', lockAtMostFor: '10m' });
  assert.equal(shown.length, 6);
  for (const part of shown) {
    const [call = '', ...output] = part.split('\n');
    const words = call.replace('npx cronlatch', `"${process.execPath}" "${resolve('dist/cli/main.js')}"`);
    const { stdout } = await commandWith({ cwd, env, input: '' }, 'sh', ['-c', `${words} 2>&1`]);
    const [printed, expected] = [stdout, output.join('\n')].map((text) => plain(text).replace(DATE, 'DATE'));
    assert.equal(printed, expected, call);
  }
});

/** The night of the page: a run has failed, a day was missed, another job is late, and a lock is held. */
async function fill(cwd: string): Promise<void> {
  await cronlatch(['init'], { cwd, env: { DATABASE_URL } });
  const guard = await createJobGuard(`sqlite:${join(cwd, 'jobs.db')}`, {
    logger: false,
    pollInterval: false,
    keepLog: 1000,
  });
  const schedules = [{ expression: '55 1 * * *', timeZone: 'UTC', dialect: 'unix' }] as const;
  await registerEarlierIn(
    join(cwd, 'jobs.db'),
    guard,
    { ...dailyJob('close-day', { dayStart: '02:00', schedules }), registeredBy: 'web-2/4' },
    dailyJob('invoices', { kind: 'lock' }),
  );
  const everyFive = [{ expression: '*/5 * * * *', dialect: 'unix' }] as const;
  await register(guard, dailyJob('clean-up', { kind: 'lock', timeZone: undefined, schedules: everyFive }));
  const oncePer = { period: 'day', timeZone: 'UTC', dayStart: '02:00', retry: { maxAttempts: 1 } } as const;
  for (const [days, error] of [[3], [1, new Error('no space left on device')]] as const)
    await guard
      .run({ name: 'close-day', lockAtMostFor: '30m', oncePer, at: atNoon(TODAY - days) }, () => {
        if (error === undefined) return;
        currentRun().log('read 1,204 payments\nwriting /srv/billing/close-day.csv');
        throw error;
      })
      .catch(() => {});
  const failed = { job: 'close-day', periodKey: keyOf(TODAY - 1) };
  await eventually(async () => (await guard.ledger.log(failed)).length > 0, 'the log is stored');
  await guard.lockManager().tryLock({ name: 'clean-up', lockAtMostFor: '10m' });
  const { store, statementTimeoutMs: timeoutMs } = ledgerOf(guard);
  const acts = store.acts ?? assert.fail('the store keeps no acts');
  for (const [verb, actor, reason] of [
    ['pause', 'anne', 'the bank is down'],
    ['resume', 'bob', 'the bank is back'],
  ] as const) {
    await acts.add({ id: verb, verb, lock: 'reports', actor, reason, state: 'done' }, { timeoutMs });
    const { now } = await acts.pending('run', { timeoutMs });
    const isLater = async (): Promise<boolean> => (await acts.pending('run', { timeoutMs })).now > now;
    await eventually(isLater, 'the clock of the database goes on, so that the next act is newer');
  }
}

const UUID = /[\w-]+\/\d+\/[\da-f]{8}-[\da-f-]{27}/g;
const INSTANCE = /\b[\w.-]+\/\d+(?=[ .]|$)/gm;
const DATE = /\b\d{4}-\d\d-\d\d(?=\b|T)/g;

/** The business day on which the page was written, and the one of this test. As days since 1970. */
const PAGE_DAY = Date.parse('2026-11-23') / DAY_MS;
const TODAY = Math.floor((Date.now() - 2 * HOUR_MS) / DAY_MS);

function atNoon(day: number): Date {
  return new Date(day * DAY_MS + 12 * HOUR_MS);
}

function keyOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

function moved(text: string, to: number, from: number): string {
  return text.replace(DATE, (date) =>
    new Date(Date.parse(date) + (to - from) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Without what differs from call to call: times, durations, holders, tokens, and the width of columns. */
function plain(text: string): string {
  return text
    .replace(/\(\S+\/jobs\.db\)/, '(FILE)')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, 'TIME')
    .replace(/hold\/[^/]+\//g, 'hold/ACTOR/')
    .replace(/\S+(?=: audit)/, 'ACTOR')
    .replace(/locked by \S+/g, 'locked by HOLDER')
    .replace(/\b(on [A-Z][a-z]{2} )?at \d\d:\d\d(:\d\d)?\b/g, 'SPOKEN TIME')
    .replace(/\b((\d+ )?[A-Z][a-z]{2} )?\d\d:\d\d\b/g, 'SHORT TIME')
    .replace(/\d+ (s|min|h|d) ago/g, 'AGO')
    .replace(/\bin \d+ (s|min|h|d)\b/g, 'LATER')
    .replace(/\d+(\.\d+)? (ms|s)\b/g, 'DURATION')
    .replace(UUID, 'OWNER')
    .replace(INSTANCE, 'INSTANCE')
    .replace(/ps -p \d+/, 'ps -p PID')
    .replace(/\b\d{16}\b/g, 'TOKEN')
    .replace(/ +/g, ' ');
}

async function ownerIn(cwd: string, call: string): Promise<string> {
  if (!call.includes('--owner')) return '';
  const { stdout } = await cronlatch(['locks', '--held', '--json'], { cwd, env: { DATABASE_URL } });
  return (JSON.parse(stdout) as { locks: { lockedBy: string }[] }).locks[0]?.lockedBy ?? '';
}

/** The title of the table of their options, and the options that it leaves out. */
const OPTIONS = {
  init: ['option', '--help'],
  exec: [
    '`exec` option',
    ...['--url', '--data-source', '--lock-table', '--run-table', '--job-table', '--schema', '--app'],
    ...['--verbose', '--help'],
  ],
} as const;

for (const [command, [title, ...shared]] of Object.entries(OPTIONS))
  void test(`the page lists every option of ${command}`, async () => {
    const { stdout } = await cronlatch([command, '--help']);
    const options = [...stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option]) => option);
    const listed = tableOf(PAGE, title).map(([cell = '']) => /--[\w-]+/.exec(cell)?.[0]);
    assert.deepEqual([...listed, ...shared].sort(), options.sort());
  });

void test('the page lists every command', async () => {
  const { stdout } = await cronlatch(['--help']);
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) (?:\[|<)/gm)].map(([, command]) => command);
  const listed = tableOf(PAGE, 'command').flatMap(([cell = '']) =>
    [...cell.matchAll(/`([a-z]+)`/g)].map(([, command]) => command),
  );
  assert.deepEqual(listed.sort(), commands.sort());
});
