import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { InvalidLockConfigurationError, SchemaMismatchError } from 'cronlatch';
import { createCronlatchMigration, createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../../support/benches/closing';
import { databaseOn, testOn, testOnEvery } from '../../../support/databases/fresh';
import { withUser } from '../../../support/databases/user';
import { DAILY } from '../../../support/benches/guard-of-runs';
import { warningsOf } from '../../../support/benches/guard';
import { withRunStore } from '../../../support/benches/run-store';
import { LIMIT, RUNNING } from '../../../support/jobs/runs';
import { createMissingTables } from '#cronlatch/integrations/sql/tables';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { TypeOrmRunStore } from '../../../support/stores/typeorm-run-store';
import { dailyJob } from '../../../cli/year-of-runs';

const REGISTRATION = dailyJob('close-day');
const QUIET = { pollInterval: false, logger: false } as const;
const MISSING = /cronlatch_job' in .* is missing.*Create it with npx cronlatch init\./;

async function up(dataSource: DataSource, direction: 'up' | 'down' = 'up'): Promise<void> {
  const runner = dataSource.createQueryRunner();
  await new (createCronlatchMigration({ tables: ['jobs'] }))()[direction](runner);
  await runner.release();
}

testOnEvery('without its table the register is refused, and the ledger works', (database) =>
  withRunStore(database, {}, async ({ store, application }) => {
    await up(application, 'down');
    await up(application, 'down');
    const refused = { code: SchemaMismatchError.code, message: MISSING };
    await assert.rejects(store.jobs(LIMIT), refused);
    await assert.rejects(store.registerJobs([REGISTRATION], LIMIT), refused);
    await store.check();
    assert.equal(await store.insert(RUNNING, LIMIT), true);
    await up(application);
    await up(application);
    await store.registerJobs([REGISTRATION], LIMIT);
    assert.equal((await store.jobs(LIMIT)).jobs.length, 1);
  }),
);

testOnEvery('a register of another name is used by the guard with that name', (database) =>
  withRunStore(database, { jobTable: 'my_jobs' }, async ({ store, application }) => {
    const runner = application.createQueryRunner();
    const migration = new (createCronlatchMigration({ tables: ['jobs'], jobTable: 'my_jobs' }))();
    assert.equal(migration.name, 'CronlatchJobTable_my_jobs_1763596800003');
    await migration.up(runner);
    await runner.release();
    await store.registerJobs([REGISTRATION], LIMIT);
    assert.equal((await application.query<unknown[]>('SELECT * FROM my_jobs')).length, 1);
    assert.throws(() => new TypeOrmRunStore(application, { jobTable: 'my jobs' }), {
      code: InvalidLockConfigurationError.code,
      message: /jobTable is "my jobs"/,
    });
  }),
);

testOnEvery(
  'a guard without the table starts with one warning, and registers when the table is there',
  (database) =>
    withRunStore(database, {}, async ({ application }) => {
      await up(application, 'down');
      await using guard = closing(await createJobGuard(application, QUIET));
      const warnings = warningsOf(guard);
      const job = guard.wrap(DAILY, () => 'done');
      const recorded = guard.wrap(
        { name: 'recorded', lockAtMostFor: '1m', oncePer: { period: 'tick' } },
        () => 'done',
      );
      await guard.runOverdue();
      assert.deepEqual([await job(), await recorded()], ['done', 'done']);
      await guard.runOverdue();
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', /^The jobs are not registered\. Table 'cronlatch_job'/);
      assert.match(warnings[0] ?? '', MISSING);
      await assert.rejects(guard.ledger.jobs(), { code: SchemaMismatchError.code });
      await up(application);
      await guard.runOverdue();
      assert.deepEqual(
        (await guard.ledger.jobs()).map((each) => each.job),
        ['close-day', 'recorded'],
      );
    }),
);

testOn('postgres', 'a user without privileges on the table is warned once, and its jobs run', async () => {
  await using database = closing(await databaseOn('postgres'));
  const { ask } = database;
  await withRunStore(database, {}, () =>
    withUser('postgres', database, async ({ account, url }) => {
      await ask(
        `GRANT SELECT, INSERT, UPDATE ON shedlock, cronlatch_run, cronlatch_run_event, cronlatch_run_act, cronlatch_run_notice TO ${account}`,
      );
      await ask(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${account}`);
      for (const privilege of ['REFERENCES', 'SELECT', 'SELECT, INSERT']) {
        await ask(`GRANT ${privilege} ON cronlatch_job TO ${account}`);
        const source = new DataSource({ type: 'postgres', url });
        await using guard = closing(await createJobGuard(source, QUIET));
        const warnings = warningsOf(guard);
        const job = guard.wrap(DAILY, () => 'done');
        for (let poll = 0; poll < 3; poll += 1) {
          await guard.runOverdue();
          await job();
        }
        assert.deepEqual(warnings, [
          'Could not update the register of jobs. The guard will try again at the next poll.',
        ]);
      }
    }),
  );
});

testOnEvery('createTables adds the index that a ledger of an older version lacks', (database) =>
  withRunStore(database, {}, async ({ store, application }) => {
    const on = /mysql|mariadb/.test(database.options.type) ? ' ON cronlatch_run' : '';
    await application.query(`DROP INDEX ix_cronlatch_run_start${on}`);
    const [finding, ...others] = await store.verifySchema();
    assert.deepEqual([finding?.severity, finding?.code, others], ['warning', 'missing-index', []]);
    await store.check();
    await createMissingTables(databaseOf(application), { tables: ['ledger'] });
    assert.deepEqual(await store.verifySchema(), []);
  }),
);
