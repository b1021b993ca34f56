import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LockLostError } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { lockTableOf } from '#cronlatch/storage/sql/lock-table';
import { quoteLockTable } from '#cronlatch/storage/sql/sql-dialect';
import { InvoiceJobs } from './invoices';
import { mysqlDatabase, testOn } from '../support/databases';
import { lockRows, migratedDataSource } from '../support/lock-table';

const README = readFileSync('README.md', 'utf8');
const blocks = (language: string): string[] =>
  [...README.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text);

void test('every piece of code that names its file is a file that is compiled and run', () => {
  const named = blocks('ts').filter((text) => text.startsWith('// '));
  assert.equal(named.length, 3);
  for (const text of named) {
    const [first = '', ...rest] = text.split('\n');
    assert.equal(rest.join('\n'), readFileSync(join('test', 'readme', first.slice(3)), 'utf8'), first);
  }
});

void test('the tables that it shows are those of the migration', () => {
  const normal = (sql: string): string =>
    sql
      .replace(/--.*$/gm, '')
      .replace('IF NOT EXISTS ', '')
      .replace(/[`";]/g, '')
      .replace(/\s+/g, ' ')
      .trim();
  const shown = blocks('sql').map(normal);
  for (const dialect of [mysql, sqlite]) {
    assert.ok(
      shown.includes(normal(dialect.createLockTable(quoteLockTable(lockTableOf(), dialect)))),
      dialect.name,
    );
  }
});

void test('what it links to is there', () => {
  const links = [...README.matchAll(/\]\((?!http|#)([^)#]+)/g)].map(([, path = '']) => path);
  assert.ok(links.length >= 7);
  for (const path of links) assert.ok(existsSync(path), path);
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
