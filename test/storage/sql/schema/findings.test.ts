import assert from 'node:assert/strict';
import type { QueryRunner } from 'typeorm';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import type { SqlResult, SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { inspectionOf, readTable } from '#cronlatch/storage/sql/schema/inspected-table';
import { withChangedTable } from '../../../support/databases/changed-table';
import { testOnEvery, DATABASE_NAMES, mariadbDatabase, testOn } from '../../../support/databases/fresh';
import { testFlaws, testRunFlaws } from './flaws/test-flaws';
import { testRunStores } from '../../../support/benches/run-store';
import { createRunTables } from '../../../support/databases/run-tables';
import { CLAIM, LIMIT, RUNNING } from '../../../support/jobs/runs';
import { closing } from '../../../support/benches/closing';
import { migratedDataSource } from '../../../support/databases/lock-table';

testOnEvery("the migration's table has no findings", async (database) => {
  await withChangedTable(database, [], {}, async ({ provider, warnings }) => {
    assert.deepEqual(await provider.verifySchema(), []);
    await provider.check();
    assert.deepEqual(warnings, []);
  });
});

// MariaDB has the flaws of MySQL: with the tests of faults.
for (const server of ['mysql', 'postgres', 'sqlite'] as const) testFlaws(server);
for (const database of DATABASE_NAMES) testRunFlaws(database);

testRunStores(
  'dropped tables cause an error that names them, and are used again when they are back',
  async (bench) => {
    const { store, application } = bench;
    await store.insert(RUNNING, LIMIT);
    const runner = application.createQueryRunner();
    const migration = new (createCronlatchMigration({ tables: ['ledger'] }))();
    for (const table of ['cronlatch_run_event', 'cronlatch_run']) await runner.query(`DROP TABLE ${table}`);
    const gone = {
      code: 'CRONLATCH_SCHEMA_MISMATCH',
      outcome: 'nothing-ran',
      message: /Create it with npx cronlatch init\./,
    };
    await assert.rejects(
      store.change(CLAIM, () => ({ value: 0 }), LIMIT),
      gone,
    );
    await assert.rejects(store.insert(RUNNING, LIMIT), gone);
    await migration.up(runner);
    await runner.release();
    assert.equal(await store.insert(RUNNING, LIMIT), true);
  },
);

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
