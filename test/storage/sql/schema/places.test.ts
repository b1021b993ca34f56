import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { testOnServer, testOnServers } from '../../../support/benches/server';
import { closing } from '../../../support/benches/closing';
import { testOnEvery } from '../../../support/databases/fresh';
import { LIMIT, RUNNING } from '../../../support/jobs/runs';
import { CheckedLockProvider } from '../../../support/stores/checked-lock-provider';
import { TypeOrmRunStore } from '../../../support/stores/typeorm-run-store';
import { dailyJob } from '../../../cli/year-of-runs';

const REGISTRATION = dailyJob('close-day');
const JOB = { name: 'job', lockAtMostFor: '10m' } as const;

/** One test for each server, with another schema for tables beside the default one of sessions. */
function testOtherPlace(name: string, body: (dataSource: DataSource, place: string) => Promise<void>): void {
  testOnServers(name, async ({ server, database, application }) => {
    const place = server === 'postgres' ? 'ops' : `${database.name}_ops`;
    await database.ask(`CREATE SCHEMA ${place}`);
    try {
      await body(application, place);
    } finally {
      if (server !== 'postgres') await database.ask(`DROP SCHEMA ${place}`);
    }
  });
}

testOtherPlace(
  'a table in another schema is created, found and repaired there',
  async (dataSource, place) => {
    for (const options of [{ lockTable: `${place}.locks` }, { schema: place, lockTable: 'others' }]) {
      const provider = new CheckedLockProvider(dataSource, options);
      const name = options.lockTable.replace(/^(?!.*\.)/, `${place}.`);
      const [missing] = await provider.verifySchema();
      assert.match(
        missing?.message ?? '',
        new RegExp(`^Table '${name}' in .* is missing.*npx cronlatch init --lock-table ${name}\\.$`),
      );

      const runner = dataSource.createQueryRunner();
      await new (createCronlatchMigration({ tables: ['lock'], ...options }))().up(runner);
      assert.deepEqual(await provider.verifySchema(), []);
      await runner.query(
        `ALTER TABLE ${name} DROP ${dataSource.options.type === 'postgres' ? `CONSTRAINT ${name.split('.')[1]}_pkey` : 'PRIMARY KEY'}`,
      );
      await runner.query(`ALTER TABLE ${name} DROP COLUMN fencing_token`);
      const findings = await provider.verifySchema();
      assert.deepEqual(
        findings.map(({ code }) => code),
        [
          ...['names-not-unique', 'no-fencing-token'],
          // Without tokens it looks like a table for ShedLock for Java.
          ...(dataSource.options.type === 'postgres' ? ['session-time-zone'] : []),
        ],
      );
      for (const { remedy = '' } of findings) await runner.query(remedy);
      await runner.release();
      assert.deepEqual(await provider.verifySchema(), []);

      assert.ok(await provider.lock(JOB));
      assert.equal(await provider.lock(JOB), undefined);
      const locks = `SELECT name FROM ${name} WHERE name <> 'cronlatch-place'`;
      assert.deepEqual(await dataSource.query(locks), [{ name: 'job' }]);
      await provider.close();
    }
  },
);

testOtherPlace(
  'the tables of runs and jobs can be there, too, with other and the longest names',
  async (dataSource, place) => {
    const options = { runTable: 'Runs', jobTable: 'Jobs', schema: place, nameLength: 255 };
    await using store = closing(new TypeOrmRunStore(dataSource, options));
    assert.match((await store.verifySchema())[0]?.message ?? '', /nameLength: 255/);
    const runner = dataSource.createQueryRunner();
    for (const tables of [['ledger'], ['jobs']] as const)
      await new (createCronlatchMigration({ tables, ...options }))().up(runner);
    await runner.release();
    assert.deepEqual(await store.verifySchema(), []);
    const job = '日'.repeat(255);
    assert.equal(await store.insert({ ...RUNNING, job }, LIMIT), true);
    const declared = { ...REGISTRATION.declared, renewEveryMs: 1000 };
    for (const each of [REGISTRATION, { ...REGISTRATION, declared }])
      await store.registerJobs([{ ...each, job }], LIMIT);
    const answeredAt = new Date();
    await store.answerJobs([{ job, answeredAt }], LIMIT);
    const { jobs } = await store.jobs(LIMIT);
    assert.deepEqual(
      jobs.map((each) => [each.job, each.declared, each.answeredAt]),
      [[job, declared, answeredAt]],
    );
  },
);

testOtherPlace('a table name that differs only in case is another table', async (dataSource) => {
  const runner = dataSource.createQueryRunner();
  await new (createCronlatchMigration({ tables: ['lock'], lockTable: 'Locks' }))().up(runner);
  await runner.query('CREATE TABLE locks (name INT, lock_until INT, region VARCHAR(10) NOT NULL)');
  await runner.release();
  const provider = new CheckedLockProvider(dataSource, { lockTable: 'Locks' });
  assert.deepEqual(await provider.verifySchema(), []);
  assert.ok(await provider.lock(JOB));
  await provider.close();
});

testOnServer('postgres', 'if a DataSource names a schema, its lock table is there, too', async (bench) => {
  const { ask } = bench.database;
  await ask('CREATE SCHEMA ops');
  const migrations = [createCronlatchMigration({ tables: ['lock'] })];
  const dataSource = await bench.connected({ schema: 'ops', migrations });
  const provider = bench.closeAtEnd(new CheckedLockProvider(dataSource));
  // A table of the same name in the default schema of sessions is ignored.
  await assert.rejects(provider.lock(JOB), {
    name: 'SchemaMismatchError',
    message: /^Table 'ops\.shedlock' in PostgreSQL/,
  });
  await dataSource.runMigrations();
  assert.deepEqual(await provider.verifySchema(), []);
  assert.ok(await provider.lock(JOB));
  assert.deepEqual(await ask(`SELECT name FROM ops.shedlock WHERE name <> 'cronlatch-place'`), [
    { name: 'job' },
  ]);
});

testOnEvery('reserved words of SQL work as names, also in remedies', async (database) => {
  const names = {
    lockTable: 'Order',
    columns: {
      name: 'select',
      lockUntil: 'from',
      lockedAt: 'where',
      lockedBy: 'table',
      fencingToken: 'Group',
    },
  };
  const migrations = [createCronlatchMigration({ tables: ['lock'], ...names })];
  await using dataSource = closing(await new DataSource({ ...database.options, migrations }).initialize());
  await using provider = closing(new CheckedLockProvider(dataSource, names));
  await dataSource.runMigrations();
  assert.deepEqual(await provider.verifySchema(), []);
  const quote = (identifier: string): string => dataSource.driver.escape(identifier);
  await dataSource.query(`ALTER TABLE ${quote('Order')} DROP COLUMN ${quote('Group')}`);
  const [finding] = await provider.verifySchema();
  await dataSource.query(finding?.remedy ?? '');
  assert.deepEqual(await provider.verifySchema(), []);
  const lock = await provider.lock(JOB);
  assert.ok(lock?.fencingToken);
  assert.equal(await provider.lock(JOB), undefined);
  assert.equal(await lock.extend('20m'), true);
  assert.equal(await lock.unlock(), true);
});
