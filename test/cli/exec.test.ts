import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { cronlatch, errorLines } from './cronlatch';
import { DAY_MS } from './operated';
import { DAILY, IGNORES, JOB, testExec, testExecOn } from './exec-bench';
import { operations } from 'cronlatch/operations';

const CLEANS_UP = [process.execPath, 'test/cli/fixtures/cleans-up.cjs'];
const ENDS = [
  'sh',
  '-c',
  'exec 2>&-; trap "echo ended; exit" TERM; echo started; while true; do sleep 0.1; done',
];
const SQLITE = JSON.stringify(resolve('dist/integrations/better-sqlite3/index.js'));

testExecOn(['sqlite']);

testExec('the lock is kept until all that a shell has started has ended', async (bench) => {
  const call = bench.start(...JOB, '--', 'sh', '-c', `"${CLEANS_UP[0]}" ${CLEANS_UP[1]}; true`);
  await call.printed('started');
  call.kill('SIGTERM');
  await call.printed('cleaning up');
  assert.equal(await bench.isHeld(), true);
  call.endInput();
  assert.equal((await call.ended).status, 143);
  assert.equal(await bench.isHeld(), false);
});

testExec(
  'a program with a period is a registered job, whose missed periods status reports',
  async (bench) => {
    const threeDaysAgo = new Date(Date.now() - 3 * DAY_MS).toISOString();
    const call = [...DAILY, '--cron', '0 3 * * *', '--scheduled-at', threeDaysAgo, 'true'];
    assert.deepEqual(await bench.exec(...call), { status: 0, stdout: '', stderr: '' });
    await bench.prints('jobs', /^nightly +once per day, UTC +0 3 \* \* \* \(UTC\) /m);
    await bench.query(`UPDATE cronlatch_job SET declared_at = declared_at - ${4 * DAY_MS}000`);
    const checked = await bench.call('status --check');
    const missed = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
    assert.equal(checked.status, 5);
    assert.match(
      checked.stdout,
      new RegExp(`^Job 'nightly' is late: .*\\nJob 'nightly' has missed ${missed} and 1 more\\. .*\n$`),
    );
    assert.doesNotMatch((await bench.call('status')).stdout, /disabled/);
  },
);

testExec('if the command ends by an error of the application, so does the program', async (bench) => {
  const app = join(dirname(bench.url.replace('sqlite:', '')), 'app.cjs');
  writeFileSync(
    app,
    `process.stdin.once('end', () => Promise.reject(new Error('left behind'))).resume();
    exports.guard = require(${SQLITE}).createJobGuard(${JSON.stringify(bench.url)}, { logger: false });`,
  );
  const call = bench.start('--app', app, ...JOB, '--', ...ENDS);
  await call.printed('started');
  call.endInput();
  const { status, stdout, stderr } = await call.ended;
  assert.deepEqual([status, stdout, stderr], [1, 'started\nended\n', 'cronlatch: left behind\n']);
});

testExec('what a shell has started is killed if it outlives the shell for too long', async (bench) => {
  const shell = `"${IGNORES[0]}" ${IGNORES[1]}; true`;
  const call = bench.start(...JOB, '--kill-after', '200ms', '--', 'sh', '-c', shell);
  await call.printed('started');
  call.kill('SIGTERM');
  assert.equal((await call.ended).status, 143);
  assert.equal(await bench.isHeld(), false);
});

testExec('a program that ends well after a signal has ended well', async (bench) => {
  const call = bench.start(...JOB, '--', ...CLEANS_UP);
  await call.printed('started');
  call.kill('SIGTERM');
  await call.printed('cleaning up');
  call.endInput();
  assert.equal((await call.ended).status, 7);
});

testExec(
  'the exit status is passed on, and a program that cannot be started has that of a shell',
  async ({ exec }) => {
    for (const [script, status] of [
      ['exit 0', 0],
      ['exit 3', 3],
      ['kill -9 $$', 137],
    ] as const)
      assert.deepEqual(await exec(...JOB, '--', 'sh', '-c', script), { status, stdout: '', stderr: '' });
    const missing = await exec(...JOB, 'no-such-program');
    assert.equal(missing.status, 127);
    assert.deepEqual(errorLines(missing), ["Could not start 'no-such-program': there is no such program."]);
    assert.equal((await exec(...JOB, '--', './package.json')).status, 126);
  },
);

testExec('the program gets its lock and its run in its environment', async ({ exec, guard }) => {
  const show = ['--', 'sh', '-c', 'env | grep CRONLATCH_ | sort'];
  const addedIn = (stdout: string): string[] =>
    stdout.split('\n').filter((line) => line !== '' && !((line.split('=')[0] ?? '') in process.env));
  const locked = await exec(...JOB, '--scheduled-at', '2026-11-22T03:00Z', ...show);
  const token = (await guard.locks.inspect('nightly'))?.fencingToken;
  assert.deepEqual(addedIn(locked.stdout), [
    `CRONLATCH_FENCING_TOKEN=${token}`,
    'CRONLATCH_LOCK=nightly',
    'CRONLATCH_SCHEDULED_AT=2026-11-22T03:00:00.000Z',
  ]);
  const day = new Date().toISOString().slice(0, 10);
  const minute = Math.floor(Date.now() / 60_000);
  const daily = await exec(...DAILY, '--job-name', `nightly-${minute}`, ...show);
  assert.deepEqual(
    addedIn(daily.stdout).filter((line) => !/FENCING/.test(line)),
    [
      'CRONLATCH_ATTEMPT=1',
      `CRONLATCH_BUSINESS_DATE=${day}`,
      `CRONLATCH_IDEMPOTENCY_KEY=nightly//${day}/0`,
      'CRONLATCH_LOCK=nightly',
      `CRONLATCH_PERIOD_KEY=${day}`,
      `CRONLATCH_SCHEDULED_AT=${new Date(minute * 60_000).toISOString()}`,
    ],
  );
});

testExec(
  'a program whose lock is held does not run, and the line names the holder',
  async ({ exec, guard }) => {
    const lock = await guard.lockManager().tryLock({ name: 'nightly', lockAtMostFor: '10m' });
    const script = ['--', 'sh', '-c', 'echo ran'];
    const skipped = await exec(...JOB, ...script);
    assert.deepEqual([skipped.status, skipped.stdout], [0, '']);
    const holder = (await guard.locks.inspect('nightly'))?.lockedBy ?? '';
    assert.ok(errorLines(skipped)[0]?.startsWith(`job 'nightly' skipped: locked by ${holder} until `));
    assert.deepEqual(await exec(...JOB, '--quiet', ...script), { status: 0, stdout: '', stderr: '' });
    assert.equal((await exec(...JOB, '-E', '9', ...script)).status, 9);
    assert.equal((await exec(...DAILY, ...script)).status, 75);
    await lock?.unlock();
    assert.equal((await exec(...DAILY, ...script)).stdout, 'ran\n');
  },
);

testExec(
  'a program that fails is a failed run, and the call that comes too early ends with 75',
  async (bench) => {
    const { exec, guard } = bench;
    const failed = await exec(...DAILY, '--', 'sh', '-c', 'exit 3');
    assert.equal(failed.status, 3);
    assert.match(
      errorLines(failed)[0] ?? '',
      /^job 'nightly' for \S+ failed after .+; the next attempt is at /,
    );
    const run = await guard.ledger.last('nightly');
    assert.deepEqual([run?.state, run?.attempt], ['failed', 1]);
    assert.match(run?.error ?? '', /The command ended with status 3\./);
    const early = await exec(...DAILY, '--', 'true');
    assert.equal(early.status, 75);
    assert.match(errorLines(early)[0] ?? '', /skipped: not-due/);
  },
);

testExec(
  'an overdue run that fails is reported by the exit status, although today has completed',
  async ({ exec, guard }) => {
    const yesterday = new Date(Date.now() - 86_400_000).toISOString();
    assert.equal((await exec(...DAILY, '--scheduled-at', yesterday, '--', 'sh', '-c', 'exit 3')).status, 3);
    const [run] = await guard.ledger.list({ job: 'nightly' });
    assert.ok(run);
    await operations(guard).rerun({ job: 'nightly' }, { actor: 'test', reason: 'now', force: true });
    const both = await exec(
      ...DAILY,
      '--',
      'sh',
      '-c',
      'echo $CRONLATCH_PERIOD_KEY; exec test $CRONLATCH_PERIOD_KEY != ' + run.periodKey,
    );
    assert.equal(both.stdout, `${new Date().toISOString().slice(0, 10)}\n${run.periodKey}\n`);
    assert.equal(both.status, 1);
  },
);

testExec('a scheduled time from 31 days ago to five minutes ahead is run', async ({ exec }) => {
  const now = Math.floor(Date.now() / 60_000);
  for (const minute of [now - 31 * 1440 + 60, now + 4]) {
    const at = new Date(minute * 60_000).toISOString();
    const [option, period] = [`x-${minute}`, at.slice(0, 10)];
    for (const given of [
      ['--job-name', option],
      ['--scheduled-at', at],
    ]) {
      const call = [...DAILY, '--name', given[0] ?? '', ...given, '--', 'sh', '-c'];
      const { stdout, stderr } = await exec(...call, 'echo $CRONLATCH_PERIOD_KEY');
      assert.deepEqual([stdout, stderr], [`${period}\n`, ''], given.join(' '));
    }
  }
});

for (const options of [JOB, DAILY])
  void test(`a signal before the lock is granted ends the command, and nothing runs: ${options.length} options`, async () => {
    const app = ['--app', 'test/cli/fixtures/stopped.cjs'];
    const ended = await cronlatch(['exec', ...app, ...options, '--', 'sh', '-c', 'echo ran']);
    assert.deepEqual([ended.status, ended.stdout], [143, '']);
  });

testExec('exec --once-per tick records each call, and runs a tick once', async ({ exec, guard }) => {
  const tick = [...JOB, '--once-per', 'tick'];
  const at = `${new Date(Date.now() - 60_000).toISOString().slice(0, 16)}Z`;
  const ended = [];
  for (const args of [tick, tick, [...tick, '--scheduled-at', at], [...tick, '--scheduled-at', at]])
    ended.push(await exec(...args, '--', 'sh', '-c', 'echo ran'));
  assert.deepEqual(
    ended.map(({ status, stdout }) => [status, stdout]),
    [...Array<[number, string]>(3).fill([0, 'ran\n']), [0, '']],
  );
  const runs = await guard.ledger.list({ job: 'nightly', order: 'oldest-first' });
  assert.deepEqual(
    runs.map(({ state }) => state),
    Array(3).fill('completed'),
  );
  assert.equal(runs[0]?.periodKey, new Date(at).toISOString());
});

const WRONG: readonly (readonly [args: readonly string[], line: RegExp])[] = [
  [JOB, /^missing required argument 'command'$/],
  [['--name', 'a', 'true'], /^required option '--at-most <duration>' not specified$/],
  [
    ['--name', 'a', '--at-most', 'long', 'true'],
    /^lockAtMostFor of lock 'a' is "long", which is not a duration/,
  ],
  [[...JOB, '--once-per', 'day', 'true'], /^--once-per needs --time-zone, for example Europe\/Paris\.$/],
  [[...JOB, '--time-zone', 'UTC', 'true'], /^--time-zone has no meaning without --once-per/],
  [
    [...DAILY, '--scheduled-at', 'today', 'true'],
    /^--scheduled-at is "today": use an instant with its offset/,
  ],
  [[...DAILY, '--scheduled-at', '2026-11-22T03:00', 'true'], /^--scheduled-at is "2026-11-22T03:00": use/],
  [
    [...DAILY, '--job-name', 'close-day-20261124', 'true'],
    /^--job-name is "close-day-20261124", which ends in the minute 2008-07-10T05:24Z, more than 31 days behind the clock of this host\. Nothing has run\. Pass .+ --scheduled-at, .+ cronlatch run JOB --from DATE --to DATE\.$/,
  ],
  [
    [...JOB, '--job-name', 'export-99999999', 'true'],
    /^--job-name is "export-99999999", which ends in the minute 2160-02-18T10:39Z, more than five minutes ahead of the clock of this host\. Nothing has run\./,
  ],
  [
    [...DAILY, '--scheduled-at', '2020-01-01T03:00Z', 'true'],
    /^--scheduled-at is "2020-01-01T03:00Z", more than 31 days behind the clock of this host\. Nothing has run\. .+ cronlatch run JOB --from DATE --to DATE\.$/,
  ],
  [
    [...DAILY, '--scheduled-at', '2099-01-01T03:00Z', 'true'],
    /^--scheduled-at is "2099-01-01T03:00Z", more than five minutes ahead of the clock of this host\. Nothing has run\./,
  ],
  [[...JOB, '-E', '256', 'true'], /^--conflict-exit-code is "256": use a number from 0 to 255\.$/],
  [[...JOB, '--kill-after', '0s', 'true'], /^--kill-after is "0s": it must be longer than zero\.$/],
];

for (const [args, line] of WRONG)
  void test(`exec ${args.join(' ')} is refused as wrong usage, in one line`, async () => {
    const ended = await cronlatch(['exec', '--url', 'sqlite:missing.db', ...args]);
    assert.deepEqual([ended.status, ended.stdout], [2, '']);
    assert.equal(errorLines(ended).length, 1);
    assert.match(errorLines(ended)[0] ?? '', line);
  });
