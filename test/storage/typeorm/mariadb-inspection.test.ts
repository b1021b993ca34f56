import assert from 'node:assert/strict';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { NamedStatement } from '#cronlatch/storage/sql/connections/sql-executor';
import { mariadbDatabase, testOn } from '../../support/databases';
import { migratedDataSource } from '../../support/lock-table';

testOn('mariadb', 'inspecting the lock table opens no other table of the server', async () => {
  const database = await mariadbDatabase();
  const dataSource = await migratedDataSource(database);
  for (const path of [['shedlock'], [database.name, 'shedlock']]) {
    const { text, parameters } = mysql.inspection.columns({ path, database: database.name });
    const { values, ...statement } = new NamedStatement(text, () => '?').bind(parameters);
    const plan = await dataSource.query<Record<string, unknown>[]>(`EXPLAIN ${statement.text}`, [...values]);
    const scans = plan.filter(({ Extra }) => /Scanned (all|[1-9]\d*) database/.test(String(Extra)));
    assert.ok(plan.length >= 4);
    assert.deepEqual(scans, []);
  }
  await dataSource.destroy();
  await database.dispose();
});
