import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { chaos, shortCampaign } from './short-campaign';
import { parseOptions, UsageError } from './options';

const SQLITE = ['--server', 'sqlite'];
const REFUSED: readonly (readonly [args: readonly string[], why: RegExp])[] = [
  [[], /--server is missing/],
  [['--server', 'oracle', '--minutes', '1'], /'oracle'/],
  [SQLITE, /--minutes is missing/],
  [[...SQLITE, '--minutes', '0'], /--minutes is '0'/],
  [[...SQLITE, '--minutes', '-1'], /minutes/],
  [[...SQLITE, '--minutes', 'NaN'], /'NaN'/],
  [[...SQLITE, '--minutes', '1441'], /'1441'/],
  [[...SQLITE, '--minutes', '1', '--seed', '1.5'], /--seed is '1.5'/],
  [[...SQLITE, '--minutes', '1', '--seed', '4294967296'], /--seed/],
  [[...SQLITE, '--minutes', '1', '--provider', 'redis'], /--provider is 'redis'/],
  [[...SQLITE, '--minutes', '1', '--provider', 'row'], /needs a database server/],
  [['--server', 'redis', '--minutes', '1', '--provider', 'row'], /needs a database server/],
  [['--server', 'redis', '--minutes', '1', '--wait'], /--wait needs --server sentinel/],
  [[...SQLITE, '--minutes', '1', '--sever', 'mysql'], /sever/],
];

for (const [args, why] of REFUSED) {
  void test(`chaos ${args.join(' ')} is rejected`, () =>
    assert.throws(() => parseOptions([...args]), { name: UsageError.name, message: why }));
}

void test('invalid arguments are a usage error and produce no report', async () => {
  const { status, out, err } = await chaos([...SQLITE, '--minutes', '0']);
  assert.deepEqual([status, out], [2, '']);
  assert.match(err, /--minutes is '0'.*\nUsage: npm run chaos/);
});

void test('a server that the tests may not kill cannot be used', async () => {
  const { status, err } = await chaos(['--server', 'mysql', '--minutes', '1'], {
    CRONLATCH_MYSQL_URL: 'mysql://root@127.0.0.1:9/',
  });
  assert.equal(status, 2);
  assert.match(err, /No mysql is available/);
});

void test('a short campaign on SQLite keeps all promises, and reports the faults', () =>
  shortCampaign('sqlite', '0.15'));

void test('an interrupted campaign is not a campaign', async () => {
  const child = spawn(process.execPath, [join(__dirname, 'main.js'), ...SQLITE, '--minutes', '5'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors = text(child.stderr);
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const [status] = (await once(child, 'close')) as [number];
  assert.equal(status, 1);
  assert.match(await errors, /Ended early by SIGTERM/);
});
