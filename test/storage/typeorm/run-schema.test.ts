import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { SchemaMismatchError } from 'cronlatch';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { testRunStores, withRunStore } from '../../support/benches/run-store';
import { databaseOn, testOnEveryServer, testOnEvery, testWith } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { CLAIM, FAILED, LIMIT, RUNNING } from '../../support/jobs/runs';
import { RUN_FLAWS } from './flaws/runs';
import { TypeOrmRunStore } from '../../support/stores/typeorm-run-store';

testRunStores("the migration's tables have no findings", async (bench) => {
  assert.deepEqual(await bench.store.verifySchema(), []);
  await bench.store.check();
  assert.deepEqual(bench.warnings, []);
});

testOnEvery('the migration can run twice, and can be undone', async (database) => {
  const dataSource = await ledgerDataSource(database);
  const migration = new (createCronlatchMigration({ tables: ['ledger'] }))();
  const runner = dataSource.createQueryRunner();
  await migration.up(runner);
  await migration.up(runner);
  await migration.down(runner);
  await migration.down(runner);
  await runner.release();
  const store = new TypeOrmRunStore(dataSource);
  await assert.rejects(store.check(), (error) => {
    assert.ok(error instanceof SchemaMismatchError);
    assert.equal(error.message.match(/is missing.*Create it with npx cronlatch init\./g)?.length, 2);
    return true;
  });
  await store.close();
  await dataSource.destroy();
});

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

for (const [server, flaws] of Object.entries(RUN_FLAWS)) {
  for (const { flaw, changes, code, message: expected, isMended = true } of flaws) {
    testWith(server as keyof typeof RUN_FLAWS, `runs: ${flaw}: ${code}`, (database) =>
      withRunStore(database, { changes }, async ({ store, application }) => {
        const findings = await store.verifySchema();
        assert.deepEqual(
          findings.map((finding) => [finding.severity, finding.code]),
          [['error', code]],
        );
        const [{ message = '', remedy = undefined } = {}] = findings;
        assert.match(message, expected);
        await assert.rejects(store.check(), { code: 'CRONLATCH_SCHEMA_MISMATCH', message });
        await assert.rejects(store.insert(RUNNING, LIMIT), { message, outcome: 'nothing-ran' });
        assert.equal(remedy !== undefined, isMended);
        if (remedy === undefined) return;
        await application.query(remedy);
        assert.deepEqual(await store.verifySchema(), []);
        assert.equal(await store.insert(RUNNING, LIMIT), true);
      }),
    );
  }
}

testOnEveryServer(
  'the tables can be in another schema, under another name, with wider names',
  async (server) => {
    const database = await databaseOn(server);
    const place = server === 'postgres' ? 'ops' : `${database.name}_ops`;
    await database.ask(`CREATE SCHEMA ${place}`);
    const options = { runTable: 'Runs', schema: place, nameLength: 200 };
    const migrations = [createCronlatchMigration({ tables: ['ledger'], ...options })];
    const dataSource = await new DataSource({ ...database.options, migrations }).initialize();
    const store = new TypeOrmRunStore(dataSource, options);
    try {
      assert.match((await store.verifySchema())[0]?.message ?? '', /nameLength: 200/);
      await dataSource.runMigrations();
      assert.deepEqual(await store.verifySchema(), []);
      assert.equal(await store.insert({ ...RUNNING, job: 'j'.repeat(200) }, LIMIT), true);
    } finally {
      await store.close();
      await dataSource.destroy();
      if (server !== 'postgres') await database.ask(`DROP SCHEMA ${place}`);
      await database.dispose();
    }
  },
);

testOnEvery('a further unique index that blocks a run is an error, not an existing run', async (database) => {
  const changes = ['CREATE UNIQUE INDEX beginnings ON cronlatch_run (job_name, period_start)'];
  await withRunStore(database, { changes }, async ({ store }) => {
    assert.equal(await store.insert(RUNNING, LIMIT), true);
    assert.equal(await store.insert(RUNNING, LIMIT), false);
    for (const event of [undefined, FAILED]) {
      await assert.rejects(store.insert({ ...RUNNING, periodKey: 'other', event }, LIMIT), {
        code: 'CRONLATCH_SCHEMA_MISMATCH',
        message:
          /Could not write the run of job 'close-day' for other: it collides .* Drop any additional unique index/,
      });
    }
  });
});
