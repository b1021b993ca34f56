import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { styleText } from 'node:util';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import { operations } from 'cronlatch/operations';
import { closing } from '../support/benches/closing';
import { sqliteDatabase } from '../support/databases/fresh';
import { commandWith } from '../support/processes/command';
import { testIf } from '../support/servers/test-on';
import { cronlatch } from './cronlatch';
import { printAdvice, printText, useIo, type Io } from '#cronlatch/cli/terminal';
import { releaseOf } from '#cronlatch/ledger/operator/remedy';
import { DAY_MS, testOperated } from './operated';
import { dailyJob, register, registerEarlier } from './year-of-runs';

testOperated(
  'on a terminal, a change asks first, and shows before what an operator must have seen',
  async (bench) => {
    const { call, runDaysAgo, guard, query } = bench;
    await register(guard, dailyJob('bill', { renewEveryMs: 200_000 }));
    const [running, interrupted] = [await runDaysAgo('bill', 4), await runDaysAgo('bill', 3)];
    await query(`UPDATE cronlatch_run SET state = 'interrupted'`);
    await query(`UPDATE cronlatch_run SET state = 'running' WHERE period_key = '${running}'`);
    const completed = await runDaysAgo('bill', 1);
    await guard.lockManager().tryLock({ name: 'bill', lockAtMostFor: '10m' });
    const owner = (await guard.locks.inspect('bill'))?.lockedBy;
    const rows = async () => [await guard.ledger.list(), await query('SELECT * FROM shedlock')];
    const before = await rows();
    for (const [args, text] of [
      [`rerun bill ${completed} --force`, 'It has completed, and its work will be done a second time.'],
      [
        `rerun bill ${running} --force`,
        ' still runs it. That run can no longer complete, but it is not stopped',
      ],
      [
        `resolve bill ${interrupted} --as pending`,
        ' may still be running it, and is not stopped, so first make sure',
      ],
      [`run bill --from ${interrupted} --to ${completed}`, 'This adds 1 run: '],
      [`release bill --owner ${owner}`, ' may still run: its renewal of the lock is not late.'],
    ] as const) {
      const ended = await call(`${args} --reason why`, { input: 'n\n', hook: 'interactive.cjs' });
      assert.equal(ended.status, 1, ended.stderr);
      const [shown = '', answer] = ended.stdout.split('Go on?');
      assert.ok(shown.includes(text), ended.stdout);
      assert.equal(answer, ' [y/N] nothing changed\n');
    }
    assert.deepEqual(await rows(), before);
    const yes = await call('rerun bill --force --reason why', { input: 'y\n', hook: 'interactive.cjs' });
    assert.equal(yes.status, 0);
    assert.match(
      yes.stdout,
      /^the run of job 'bill' for \S+ completed .+\n[^]+\nGo on\? \[y\/N\] Done\. It was due at /,
    );
  },
);

const PLAIN = { NO_COLOR: '1' };
const OSAKA = 'settle-card-payments-of-the-subsidiary-in-osaka';

testOperated('a table has the same shape on every terminal, and breaks no word', async (bench) => {
  const { call, runDaysAgo, guard } = bench;
  const schedules = ['1-5', '6', '0'].map((days) => ({
    expression: `0 3 * * ${days}`,
    timeZone: 'Asia/Tokyo',
    dialect: 'unix' as const,
  }));
  await registerEarlier(bench, dailyJob(OSAKA, { schedules, timeZone: 'Asia/Tokyo' }), dailyJob('bill'));
  await runDaysAgo(OSAKA, 40);
  await runDaysAgo(
    OSAKA,
    0,
    new Error('The disk of the archive is full, so that no file can be written there'),
  );
  await runDaysAgo('bill', 1);
  await guard.run({ name: '每日結算'.repeat(15), lockAtMostFor: '1m' }, () => 1);
  const by = { actor: 'ann', reason: 'moving the database to the new rack' };
  await operations(guard).pause({ lock: 'nightly' }, { ...by, until: '1d' });
  for (const args of ['jobs', 'locks', 'history', `history ${OSAKA}`, `history ${OSAKA} --missed`]) {
    const whole = (await call(args)).stdout;
    const [words, [first = '']] = [new Set(whole.split(/\s+/)), whole.split(' ')];
    for (const columns of [40, 60, 80, 100, 160]) {
      const { stdout } = await call(args, { columns, env: PLAIN });
      assert.match(stdout, new RegExp(`^${first} .*\\w\\n\\S+ `), args);
      for (const line of stdout.split('\n'))
        assert.ok(line.replace(/[\u3000-\u9fff]/g, 'xx').length <= columns, `${columns}: ${line}`);
      for (const word of stdout.split(/\s+/)) assert.ok(words.has(word) || word.includes('…'), word);
      if (columns >= 60) assert.doesNotMatch(stdout, /\d…|…\d/, args);
    }
  }
});

testOperated('status and why fit on every terminal, and break no word', async (bench) => {
  const { call, runDaysAgo, guard } = bench;
  await register(
    guard,
    dailyJob(OSAKA, { timeZone: 'Asia/Tokyo' }),
    dailyJob('bill', { renewEveryMs: 200_000 }),
  );
  await runDaysAgo(
    OSAKA,
    0,
    new Error('The disk of the archive is full, so that no file can be written there'),
  );
  await guard.lockManager().tryLock({ name: 'bill', lockAtMostFor: '10m' });
  await operations(guard).pause({ lock: 'nightly' }, { actor: 'ann', reason: 'moving the database' });
  for (const args of ['status', `why ${OSAKA}`, 'why bill', 'why nightly', 'doctor']) {
    const words = new Set((await call(args)).stdout.split(/\s+/).concat('\\'));
    for (const columns of [60, 80, 100, 160]) {
      const { stdout } = await call(args, { columns, env: PLAIN });
      for (const line of stdout.split('\n')) assert.ok(line.length <= columns, `${columns}: ${line}`);
      for (const word of stdout.split(/\s+/))
        assert.ok(words.has(word) || /…|^[\d:.-]+(Z|[+-]\d\d:\d\d)?$/.test(word), `${args}: ${word}`);
    }
  }
});

testOperated('a terminal that reports no width gets whole lines', async ({ call, runDaysAgo }) => {
  await runDaysAgo('bill', 0);
  const whole = (await call('history bill')).stdout;
  assert.equal((await call('history bill', { columns: 0, env: PLAIN })).stdout, whole);
  const env = { ...PLAIN, COLUMNS: '40' };
  assert.notEqual((await call('history bill', { columns: 0, env })).stdout, whole);
});

testOperated('a pipe gets whole names, also if COLUMNS is set', async ({ call, guard }) => {
  await register(guard, dailyJob(OSAKA));
  const { stdout } = await call('jobs', { env: { COLUMNS: '40' } });
  assert.ok(stdout.includes(OSAKA), stdout);
});

testOperated('NO_COLOR and FORCE_COLOR decide about colours', async ({ call, runDaysAgo }) => {
  await runDaysAgo('bill', 0);
  const green = styleText('green', '✓ completed', { validateStream: false });
  const cases: [hasColors: boolean, columns: number | undefined, env: Record<string, string>][] = [
    [true, 100, {}],
    [false, undefined, {}],
    [false, 100, { NO_COLOR: '1' }],
    [true, undefined, { FORCE_COLOR: '1' }],
    [false, 100, { FORCE_COLOR: '0' }],
    [true, undefined, { FORCE_COLOR: '1', NO_COLOR: '1' }],
  ];
  for (const [hasColors, columns, env] of cases) {
    const { stdout } = await call('history bill', { env, ...(columns ? { columns } : {}) });
    assert.ok(stdout.includes(hasColors ? green : ' ✓ completed '), JSON.stringify([columns, env]));
    assert.equal(stdout.includes('\u001b'), hasColors);
  }
});

void test('text wraps between words, and a command between its arguments', () => {
  const printed = (columns: number | undefined, what: () => void): string => {
    let text = '';
    useIo({
      ...process,
      env: {},
      stdout: { columns, write: (part: string) => (text += part) },
    } as unknown as Io);
    what();
    useIo(process);
    return text;
  };
  const sentence = 'The disk is full: /var/lib/a-long-path.';
  assert.equal(
    printed(20, () => printText(sentence)),
    'The disk is full:\n/var/lib/a-long-path.\n',
  );
  assert.equal(
    printed(undefined, () => printText(sentence)),
    `${sentence}\n`,
  );
  const remedy = releaseOf({ name: 'clean up', lockedBy: "it's" });
  const advice = { text: 'Release it:', remedy };
  const lines = printed(30, () => printAdvice(advice));
  assert.equal(
    lines,
    "Release it:\n  cronlatch release \\\n  'clean up' --owner \\\n  'it'\\''s' --reason TEXT\n",
  );
  assert.equal(
    lines.replaceAll(' \\\n ', ''),
    printed(undefined, () => printAdvice(advice)),
  );
});

testOperated(
  'an instant is in the time zone of its job, or in UTC',
  async ({ runDaysAgo, query, guard, prints }) => {
    await register(guard, dailyJob('bill', { timeZone: 'Asia/Tokyo' }));
    await runDaysAgo('bill', 0);
    await query(`UPDATE cronlatch_run SET time_zone = 'Asia/Tokyo'`);
    const missed = `history bill --missed --from ${new Date(Date.now() - 10 * DAY_MS).toISOString().slice(0, 10)}`;
    await prints(missed, /since \d+ \w{3} 00:00 · times in Asia\/Tokyo\n/);
    await prints(`${missed} --utc`, /since \d+ \w{3} 15:00 · times in UTC\n/);
    for (const args of ['history', 'jobs']) {
      await prints(args, /times in Asia\/Tokyo\n/);
      await prints(`${args} --utc`, /times in UTC\n/);
    }
    // The purge of cronlatch itself runs in UTC, on every database.
    await runDaysAgo('purge', 0);
    await query(`UPDATE cronlatch_run SET job_name = 'cronlatch-purge' WHERE job_name = 'purge'`);
    await prints('history', /times in Asia\/Tokyo\n/);
    await query(`UPDATE cronlatch_run SET time_zone = 'Mars/Phobos'`);
    await prints('history bill', / times in UTC\n/);
  },
);

testIf(existsSync('/dev/full'), 'device /dev/full', 'output that cannot be written is an error', async () => {
  const script = 'node dist/cli/main.js sql --dialect sqlite > /dev/full';
  const ended = await commandWith({ cwd: process.cwd() }, 'sh', ['-c', script]);
  assert.deepEqual([ended.status, ended.stderr], [1, 'cronlatch: ENOSPC: no space left on device, write\n']);
});

testIf(
  existsSync('/usr/bin/script'),
  'program script',
  'a terminal gets colours and its own width',
  async () => {
    await using bench = closing(sqliteDatabase());
    const { database = '' } = bench.options as { database?: string };
    await cronlatch(['init', '--url', `sqlite:${database}`]);
    const guard = await createJobGuard(`sqlite:${database}`, { logger: false, pollInterval: false });
    await guard.run(
      { name: 'close-day-of-all', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } },
      () => 1,
    );
    await guard.close();
    const onTerminal = `stty cols 40; node dist/cli/main.js history close-day-of-all --url sqlite:${database}`;
    const shownWith = async (env: Record<string, string | undefined>): Promise<string> => {
      // Node shows no colours where CI is set.
      const unset = { CI: undefined, FORCE_COLOR: undefined, NO_COLOR: undefined };
      const terminal = { TERM: 'xterm-256color', ...unset, ...env };
      const options = { cwd: process.cwd(), env: terminal, input: '' };
      return (await commandWith(options, 'script', ['-qec', onTerminal, '/dev/null'])).stdout.replaceAll(
        '\r',
        '',
      );
    };
    const coloured = await shownWith({});
    assert.ok(coloured.includes(styleText('green', '✓ completed', { validateStream: false })), coloured);
    const plain = await shownWith({ NO_COLOR: '1' });
    assert.doesNotMatch(plain, /\u001b/);
    assert.ok(plain.split('\n').every((line) => line.length <= 40));
    assert.match(plain, /^started +took +period +state$/m);
  },
);

testOperated(
  'a name or an owner that another program wrote cannot control the terminal',
  async ({ call, query, runDaysAgo, prints }) => {
    await runDaysAgo('bill', 0);
    // The last three are invisible: a zero-width space, a word joiner, and a tag.
    const name = `x${String.fromCodePoint(0x1b)}[2Jy${String.fromCodePoint(0x9b, 0x202e, 0x200b, 0x2060, 0xe0041)}`;
    await query(`UPDATE cronlatch_run SET job_name = '${name}'`);
    await query(`UPDATE shedlock SET name = '${name}' WHERE name <> 'cronlatch-place'`);
    await query(`INSERT INTO shedlock VALUES ('a', ${Date.now() * 2000}, 0, '${name} by Ann', 0)`);
    await prints('status', /^a +▶ held on .+ by Ann /m);
    for (const args of [
      'status',
      'status --json',
      'locks',
      'locks --json',
      'history',
      `history '${name}'`,
      `why '${name}'`,
    ]) {
      for (const terminal of [{}, { columns: 80, env: PLAIN }]) {
        const { stdout, stderr } = await call(args, terminal);
        assert.match(stdout + stderr, /\\u001b/, args);
        assert.doesNotMatch(
          stdout + stderr,
          /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u200b\u2060\u{e0041}]/u,
        );
        assert.match(stdout + stderr, /\\u200b\\u2060\\udb40\\udc41|…/, args);
      }
    }
  },
);

testOperated('a reader that closes the pipe ends a command without a message', async ({ url, query }) => {
  for (let part = 0; part < 20; part += 1) {
    const rows = Array.from(
      { length: 100 },
      (_, row) => `('${part}-${row}', 1767225600000000, 1767225600000000, 'x', 1)`,
    );
    await query(
      `INSERT INTO shedlock (name, lock_until, locked_at, locked_by, fencing_token) VALUES ${rows.join(', ')}`,
    );
  }
  const child = spawn(process.execPath, ['dist/cli/main.js', 'locks', '--json', '--url', url]);
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = (await once(child, 'close')) as [number];
  assert.deepEqual([code, stderr], [0, '']);
});
