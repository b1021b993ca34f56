import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { styleText } from 'node:util';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import { commandWith } from '../support/command';
import { sqliteDatabase } from '../support/databases';
import { testIf } from '../support/test-on';
import { cronlatch } from './cronlatch';
import { testOperated } from './operated';

testOperated('on a terminal, a change asks first', async ({ call, runDaysAgo }) => {
  const period = await runDaysAgo('bill', 1, new Error('no disk'));
  const args = `rerun bill ${period} --reason why`;
  const no = await call(args, { input: 'n\n', hook: 'interactive.cjs' });
  assert.equal(no.status, 1);
  assert.match(
    no.stdout,
    / failed permanently at .+, after attempt 1: Error: no disk\n.+\nGo on\? \[y\/N\] nothing changed\n$/,
  );
  const yes = await call(args, { input: 'y\n', hook: 'interactive.cjs' });
  assert.equal(yes.status, 0);
  assert.match(yes.stdout, /\nGo on\? \[y\/N\] Recorded\. It is due since /);
});

testOperated('on a narrow terminal, a table becomes a list', async ({ call, runDaysAgo }) => {
  await runDaysAgo('close-day-of-the-subsidiary', 0);
  const { stdout } = await call('history close-day-of-the-subsidiary', { env: { COLUMNS: '45' } });
  assert.match(stdout, /^period: \S+\nstate: completed\nattempt: 1\nstarted: /);
  for (const line of stdout.split('\n')) assert.ok(line.length <= 45, line);
});

testOperated('a wide character takes two columns of a narrow terminal', async ({ call, guard }) => {
  await guard.run({ name: '每日結算'.repeat(5), lockAtMostFor: '1m' }, () => 1);
  const { stdout } = await call('locks', { env: { COLUMNS: '60' } });
  assert.match(stdout, /^lock: 每日結算/);
});

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
    const bench = sqliteDatabase();
    const { database = '' } = bench.options as { database?: string };
    try {
      await cronlatch(['init', '--url', `sqlite:${database}`]);
      const guard = await createJobGuard(`sqlite:${database}`, { logger: false, pollInterval: false });
      await guard.run(
        { name: 'close-day-of-all', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } },
        () => 1,
      );
      await guard.close();
      const onTerminal = `stty cols 40; node dist/cli/main.js status --url sqlite:${database}`;
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
      assert.ok(coloured.includes(styleText('green', 'completed', { validateStream: false })), coloured);
      const plain = await shownWith({ NO_COLOR: '1' });
      assert.doesNotMatch(plain, /\u001b/);
      assert.ok(plain.split('\n').every((line) => line.length <= 40));
      assert.match(plain, /^job: close-day-of-all\nlast run: \S+\nstate: completed\nstarted: /);
    } finally {
      await bench.dispose();
    }
  },
);

testOperated(
  'a name that another program wrote cannot control the terminal',
  async ({ call, query, runDaysAgo }) => {
    await runDaysAgo('bill', 0);
    // The last three are invisible: a zero-width space, a word joiner, and a tag.
    const name = `x${String.fromCodePoint(0x1b)}[2Jy${String.fromCodePoint(0x9b, 0x202e, 0x200b, 0x2060, 0xe0041)}`;
    await query(`UPDATE cronlatch_run SET job_name = '${name}'`);
    await query(`UPDATE shedlock SET name = '${name}'`);
    for (const args of [
      'status',
      'status --json',
      'locks',
      'locks --json',
      `history '${name}'`,
      `why '${name}'`,
    ]) {
      const { stdout, stderr } = await call(args);
      assert.match(stdout + stderr, /\\u001b/, args);
      assert.doesNotMatch(
        stdout + stderr,
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e\u200b\u2060\u{e0041}]/u,
      );
      assert.match(stdout + stderr, /\\u200b\\u2060\\udb40\\udc41/, args);
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
