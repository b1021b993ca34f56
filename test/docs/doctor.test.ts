import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { CATALOGUE } from '#cronlatch/storage/sql/connections/finding';
import { cronlatch, testInFolder } from '../cli/cronlatch';
import { codeBlocksOf, tableOf } from '../support/checks/page';

const PAGE = 'docs/doctor.md';

void test('the page lists every finding with its severity', () => {
  const listed = tableOf(PAGE, 'finding').map(([code, severity]) => [code, severity]);
  const found = Object.entries(CATALOGUE).map(([code, [severity]]) => [`\`${code}\``, severity]);
  assert.deepEqual(listed, found);
});

testInFolder('the output on the page is that of a call', async (cwd) => {
  const env = { DATABASE_URL: 'sqlite:jobs.db' };
  await cronlatch(['init'], { cwd, env });
  const database = new Database(join(cwd, 'jobs.db'));
  database.pragma('journal_mode = DELETE');
  database.close();
  const { stdout, status } = await cronlatch(['doctor'], { cwd, env });
  const [shown] = codeBlocksOf(PAGE).filter(({ language }) => language === 'text');
  assert.equal(stdout.replace(/\(.+\/jobs\.db\)/, '(/srv/billing/jobs.db)'), shown?.text);
  assert.equal(status, 0);
});

testInFolder('the page lists the fields of the JSON', async (cwd) => {
  const env = { DATABASE_URL: 'sqlite:jobs.db' };
  await cronlatch(['init'], { cwd, env });
  const { stdout } = await cronlatch(['doctor', '--json'], { cwd, env });
  const fields = tableOf(PAGE, 'field').map(([field = '']) => field.replaceAll('`', ''));
  assert.deepEqual([...fields, 'warnings'].sort(), Object.keys(JSON.parse(stdout) as object).sort());
});
