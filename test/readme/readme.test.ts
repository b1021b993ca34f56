import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { codeBlocksOf } from '../support/checks/page';
import { mysqlDatabase, testOn } from '../support/databases/fresh';
import { lockRows, migratedDataSource } from '../support/databases/lock-table';

const BLOCKS = codeBlocksOf('README.md');

void test('it has at most 150 lines', () => {
  assert.ok(readFileSync('README.md', 'utf8').trimEnd().split('\n').length <= 150);
});

void test('every piece of code that names its file is a file that is compiled and run', () => {
  const named = BLOCKS.flatMap(({ path, text }) => (path === undefined ? [] : [{ path, text }]));
  assert.equal(named.length, 4);
  for (const { path, text } of named)
    assert.equal(text, readFileSync(join('test', 'readme', path), 'utf8'), path);
});

testOn('mysql', 'its start runs a job under its lock, and ends on SIGTERM', async () => {
  const database = await mysqlDatabase();
  const dataSource = await migratedDataSource(database);
  const app = fork(join(__dirname, 'run-start.js'), { env: { ...process.env, ...database.environment } });
  const ended = once(app, 'exit');
  try {
    assert.deepEqual(await once(app, 'message'), ['ran', undefined]);
    assert.deepEqual(
      (await lockRows(dataSource)).map(({ name, held }) => [name, held]),
      [['close-day', true]],
      'held for at least 30 s',
    );
    app.kill('SIGTERM');
    assert.deepEqual(await ended, [null, 'SIGTERM']);
  } finally {
    app.kill('SIGKILL');
    await dataSource.destroy();
    await database.dispose();
  }
});
