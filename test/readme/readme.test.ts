import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LockLostError } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { createTable } from '#cronlatch/storage/sql/schema/create-table';
import { lockTableDefinition, lockTableOf } from '#cronlatch/storage/sql/schema/lock-table';
import { InvoiceJobs } from './invoices';
import { codeBlocksOf, plainSql } from '../support/page';
import { mysqlDatabase, testOn } from '../support/databases';
import { lockRows, migratedDataSource } from '../support/lock-table';

const BLOCKS = codeBlocksOf('README.md');

void test('every piece of code that names its file is a file that is compiled and run', () => {
  const named = BLOCKS.flatMap(({ path, text }) => (path === undefined ? [] : [{ path, text }]));
  assert.equal(named.length, 4);
  for (const { path, text } of named)
    assert.equal(text, readFileSync(join('test', 'readme', path), 'utf8'), path);
});

void test('the tables that it shows are those of the migration', () => {
  const normal = (sql: string): string => plainSql(sql).replace('IF NOT EXISTS ', '');
  const shown = BLOCKS.filter(({ language }) => language === 'sql').map(({ text }) => normal(text));
  const table = lockTableDefinition(lockTableOf());
  for (const dialect of [mysql, postgres, sqlite]) {
    assert.ok(shown.includes(normal(createTable(table, dialect).join(' '))), dialect.name);
  }
});

void test('its job with a keep-alive stops when the lease is lost', async () => {
  await using bench = useTestGuard();
  const sent: string[] = [];
  const invoice = (name: string, after = (): void => {}) => ({
    send: () => Promise.resolve(void sent.push(name)).then(after),
  });
  const jobs = new InvoiceJobs([invoice('a'), invoice('b', () => bench.clock.stall('1m')), invoice('c')]);
  await assert.rejects(jobs.sendInvoices(), LockLostError);
  assert.deepEqual(sent, ['a', 'b']);
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
