import assert from 'node:assert/strict';
import type { QueryRunner } from 'typeorm';
import type { SqlResult, SqlStatement } from '#cronlatch/storage/sql/connections/statement';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { inspectionOf, readTable } from '#cronlatch/storage/sql/schema/inspected-table';
import { closing } from '../../support/benches/closing';
import { mariadbDatabase, testOn } from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';
import { createRunTables } from '../../support/databases/run-tables';

type Rows = SqlResult['rows'];

/** The inspection of two tables, and a connection to send it on. */
function onMariadb(name: string, body: (runner: QueryRunner, inspection: SqlStatement) => Promise<void>) {
  testOn('mariadb', name, async () => {
    await using database = closing(await mariadbDatabase());
    await using dataSource = closing(await migratedDataSource(database));
    await createRunTables(dataSource);
    const paths = [['shedlock'], [database.name, 'cronlatch_run']];
    const locations = paths.map((path) => ({ path, database: database.name }));
    await body(dataSource.createQueryRunner(), inspectionOf(locations, mysql));
  });
}

onMariadb('inspecting tables opens no other table of the server', async (runner, { text, values }) => {
  const explain = text.replace(/(?=\bSELECT\b)/, 'EXPLAIN ');
  const plan = (await runner.query(explain, [...values])) as Rows;
  const scans = plan.filter(({ Extra }) => /Scanned (all|[1-9]\d*) database/.test(String(Extra)));
  assert.ok(plan.length >= 10);
  assert.deepEqual(scans, []);
});

onMariadb('a short group_concat_max_len does not cut the list of indexes', async (runner, inspection) => {
  await runner.query('SET SESSION group_concat_max_len = 4');
  const rows = (await runner.query(inspection.text, [...inspection.values])) as Rows;
  const namesOf = (number: number) =>
    readTable(rows, number, mysql.inspection).indexes.map(({ name }) => name);
  assert.deepEqual(namesOf(0), ['PRIMARY']);
  const others = ['ix_cronlatch_run_due', 'ix_cronlatch_run_period', 'ix_cronlatch_run_start'];
  assert.deepEqual(namesOf(1), ['PRIMARY', ...others, 'uq_cronlatch_run']);
});
