import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { judgePrivileges, judgeTable } from '#cronlatch/storage/sql/doctor/tables';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import type { TableDefinition } from '#cronlatch/storage/sql/schema/table-definition';
import { verifyTable } from '#cronlatch/storage/sql/tables/verify-table';
import { tableDefinitions } from '#cronlatch/integrations/sql/tables';

const [table] = tableDefinitions({ schema: undefined }, { tables: ['lock'] }) as [TableDefinition];

function answering(driverCode: string, statement: RegExp) {
  const refused = new LockStorageError('refused', { outcome: 'nothing-ran', driverCode });
  return (text: string) => (statement.test(text) ? Promise.reject(refused) : Promise.resolve([]));
}

const subject = { dialect: mysql, user: 'app' };

void test('a statement that the server denies shows a privilege that the user lacks', async () => {
  const ask = answering('ER_TABLEACCESS_DENIED_ERROR', /^EXPLAIN (INSERT|UPDATE)/);
  const [finding, ...others] = await judgePrivileges(table, subject, ask);
  assert.deepEqual([finding?.statement, others], ['GRANT INSERT, UPDATE ON `shedlock` TO app', []]);
});

void test('a privilege that could not be checked does not count as one that the user has', async () => {
  const ask = answering('PROTOCOL_CONNECTION_LOST', /^EXPLAIN UPDATE/);
  await assert.rejects(judgePrivileges(table, subject, ask), { driverCode: 'PROTOCOL_CONNECTION_LOST' });
});

void test('the problem of a table contains the whole address, and the fix begins after it', () => {
  const address = 'SQLite at /srv/St. Gallen/jobs.db';
  const found = { schema: undefined, unsuitable: undefined, columns: [], indexes: [] };
  const [missing] = verifyTable(table, found, { dialect: sqlite, address });
  assert.ok(missing);
  const { problem, fix } = judgeTable(table, missing, address);
  assert.equal(
    problem,
    `Table 'shedlock' in ${address} is missing, or this database user has no access to it.`,
  );
  assert.equal(fix, 'Create what is missing with npx cronlatch init.');
});
