import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { DataSource } from 'typeorm';
import { InvalidLockConfigurationError, SchemaMismatchError } from 'cronlatch';
import { createCronlatchMigration, createJobGuard } from 'cronlatch/typeorm';
import type { JobRegistration } from '#cronlatch/ledger/job-register';
import type { RunQuery } from '#cronlatch/ledger/run-store';
import { dialectOf } from '#cronlatch/storage/typeorm/database';
import { JobStatements } from '#cronlatch/storage/sql/ledger/job-statements';
import { RunStatements } from '#cronlatch/storage/sql/ledger/run-statements';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import type { SqlStatement } from '#cronlatch/storage/sql/connections/statement';
import { closing } from '../../support/benches/closing';
import {
  databaseOn,
  testOn,
  testOnEveryServer,
  testOnEvery,
  type TestDatabase,
} from '../../support/databases/fresh';
import { DAILY } from '../../support/benches/guard-of-runs';
import { withRunStore } from '../../support/benches/run-store';
import { readWithoutIndex } from '../../support/databases/plans';
import { FAILED, LIMIT, RUNNING } from '../../support/jobs/runs';
import { TypeOrmRunStore } from '../../support/stores/typeorm-run-store';

const JOB: JobRegistration = {
  job: 'close-day',
  declared: {
    ...{ lock: 'close-day', lockAtMostForMs: 1000, lockAtLeastForMs: 0, keepAlive: false, kind: 'day' },
    ...{ schedules: [], hasCalendar: false, hasScopeFunction: false, history: false },
  },
  ...{ nextScheduledAt: new Date('2026-11-21T02:00:00Z'), version: '1.0.0', registeredBy: 'host/1' },
};
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
    await assert.rejects(store.registerJobs([JOB], LIMIT), refused);
    await store.check();
    assert.equal(await store.insert(RUNNING, LIMIT), true);
    await up(application);
    await up(application);
    await store.registerJobs([JOB], LIMIT);
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
    await store.registerJobs([JOB], LIMIT);
    assert.equal((await application.query<unknown[]>('SELECT * FROM my_jobs')).length, 1);
    assert.throws(() => new TypeOrmRunStore(application, { jobTable: 'my jobs' }), {
      code: InvalidLockConfigurationError.code,
      message: /jobTable is "my jobs"/,
    });
  }),
);

testOnEveryServer('the register can be in another schema, with the longest names', async (server) => {
  const database = await databaseOn(server);
  const place = server === 'postgres' ? 'ops' : `${database.name}_ops`;
  await database.ask(`CREATE SCHEMA ${place}`);
  const options = { jobTable: 'Jobs', schema: place, nameLength: 255 };
  const migrations = (['ledger', 'jobs'] as const).map((table) =>
    createCronlatchMigration({ tables: [table] as ['ledger'] | ['jobs'], ...options }),
  );
  const dataSource = await new DataSource({ ...database.options, migrations }).initialize();
  const store = new TypeOrmRunStore(dataSource, options);
  const job = '日'.repeat(255);
  try {
    await dataSource.runMigrations();
    const declared = { ...JOB.declared, keepAlive: true };
    for (const each of [JOB, { ...JOB, declared }]) await store.registerJobs([{ ...each, job }], LIMIT);
    const answeredAt = JOB.nextScheduledAt ?? assert.fail();
    await store.updateJobs([{ job, answeredAt, nextScheduledAt: undefined }], LIMIT);
    const { jobs } = await store.jobs(LIMIT);
    assert.deepEqual(
      jobs.map((each) => [each.job, each.previous?.declared, each.nextScheduledAt]),
      [[job, JOB.declared, undefined]],
    );
  } finally {
    await store.close();
    await dataSource.destroy();
    if (server !== 'postgres') await database.ask(`DROP SCHEMA ${place}`);
    await database.dispose();
  }
});

testOnEvery(
  'a guard without the table starts with one warning, and registers when the table is there',
  (database) =>
    withRunStore(database, {}, async ({ application }) => {
      await up(application, 'down');
      await using guard = closing(await createJobGuard(application, { pollInterval: false, logger: false }));
      const warnings: string[] = [];
      guard.on('guard:warning', ({ message }) => void warnings.push(message));
      const job = guard.wrap(DAILY, () => 'done');
      const recorded = guard.wrap({ name: 'recorded', lockAtMostFor: '1m', history: true }, () => 'done');
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
  const database = await databaseOn('postgres');
  await withRunStore(database, {}, async ({ application }) => {
    const user = `u${randomBytes(6).toString('hex')}`;
    await application.query(`CREATE ROLE ${user} LOGIN PASSWORD 'secret'`);
    await application.query(
      `GRANT SELECT, INSERT, UPDATE ON shedlock, cronlatch_run, cronlatch_run_event, cronlatch_run_request TO ${user}`,
    );
    await application.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${user}`);
    const url = new URL(database.url);
    [url.username, url.password] = [user, 'secret'];
    for (const privilege of ['REFERENCES', 'SELECT', 'SELECT, INSERT']) {
      await application.query(`GRANT ${privilege} ON cronlatch_job TO ${user}`);
      const source = new DataSource({ type: 'postgres', url: url.href });
      await using guard = closing(await createJobGuard(source, { pollInterval: false, logger: false }));
      const warnings: string[] = [];
      guard.on('guard:warning', ({ message }) => void warnings.push(message));
      const job = guard.wrap(DAILY, () => 'done');
      for (let poll = 0; poll < 3; poll += 1) {
        await guard.runOverdue();
        await job();
      }
      assert.deepEqual(warnings, [
        'Could not update the register of jobs. The guard will try again at the next poll.',
      ]);
    }
    await application.query(`DROP OWNED BY ${user}`);
    await application.query(`DROP ROLE ${user}`);
  });
  await database.dispose();
});

testOnEvery('a table of another shape is a warning as well', (database) =>
  withRunStore(database, {}, async ({ application }) => {
    await application.query('ALTER TABLE cronlatch_job DROP COLUMN last_holder');
    await using guard = closing(await createJobGuard(application, { pollInterval: false, logger: false }));
    const warnings: string[] = [];
    guard.on('guard:warning', ({ message }) => void warnings.push(message));
    const job = guard.wrap(DAILY, () => 'done');
    await guard.runOverdue();
    assert.equal(await job(), 'done');
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /has no column 'last_holder'\. Run: ALTER TABLE/);
  }),
);

testOnEvery('the migration adds the index that a ledger of an older version lacks', (database) =>
  withRunStore(database, {}, async ({ store, application }) => {
    const on = /mysql|mariadb/.test(database.options.type) ? ' ON cronlatch_run' : '';
    await application.query(`DROP INDEX ix_cronlatch_run_start${on}`);
    const [finding, ...others] = await store.verifySchema();
    assert.deepEqual([finding?.severity, finding?.code, others], ['warning', 'missing-index', []]);
    await store.check();
    await up(application);
    assert.deepEqual(await store.verifySchema(), []);
  }),
);

/** PostgreSQL otherwise reads a small table as a whole, which is faster. */
async function planOf(
  { options }: TestDatabase,
  application: DataSource,
  { text, values }: SqlStatement,
): Promise<readonly unknown[]> {
  const explain = options.type === 'better-sqlite3' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  return await application.transaction(async (manager) => {
    if (options.type === 'postgres') await manager.query('SET LOCAL enable_seqscan = off');
    return await manager.query<unknown[]>(`${explain} ${text}`, [...values]);
  });
}

testOnEvery('each statement on jobs and runs uses an index', (database) =>
  withRunStore(database, {}, async ({ store, application }) => {
    const jobs = Array.from({ length: 1000 }, (_, i) => ({ ...JOB, job: `job-${i}` }));
    await store.registerJobs(jobs, LIMIT);
    const start = Date.parse('2026-01-01T00:00:00Z');
    const rows = Array.from({ length: 1000 }, (_, i) => ({
      ...{ periodKey: `${i}`, job: `job-${i % 20}` },
      at: new Date(start + i * 86_400_000),
    }));
    await Promise.all(
      rows.map(({ at, ...key }) =>
        store.insert(
          {
            ...RUNNING,
            ...key,
            state: 'skipped',
            started: undefined,
            event: FAILED,
            periodStart: at,
            periodEnd: at,
          },
          { timeoutMs: 60_000 },
        ),
      ),
    );
    const analyze = { postgres: 'ANALYZE', 'better-sqlite3': 'ANALYZE' } as Record<string, string>;
    const tables = ['cronlatch_job', 'cronlatch_run', 'cronlatch_run_event'];
    for (const table of tables)
      await application.query(`${analyze[database.options.type] ?? 'ANALYZE TABLE'} ${table}`);
    const dialect = dialectOf(database.options.type);
    const now = dialect.inspection.now({ type: '', precision: 6 });
    const shape = { now, keyIndex: 'uq_cronlatch_run' };
    const at = JOB.nextScheduledAt ?? assert.fail();
    const runs = new RunStatements(dialect, { run: tableOf('run'), event: tableOf('event') }, shape);
    const [job, scope, periodKey, since] = ['job-7', '', '7', new Date(start)];
    const queries: Partial<RunQuery>[] = [
      { job },
      { job, scope },
      { job, periodKey },
      { job, scope, periodKey },
      { job, states: ['pending', 'failed'] },
      { job, scope, states: ['skipped'] },
      { states: ['failed', 'interrupted'] },
      { from: since, to: new Date(start + 3 * 86_400_000) },
    ];
    const statements = [
      new JobStatements(tableOf('job'), dialect, shape).update([
        { job, answeredAt: at, nextScheduledAt: at },
      ]),
      ...queries.map((query) => runs.find({ order: 'newest-first', limit: 100, ...query })),
      ...[runs.peek([{ job, scope, periodKey, since }]), runs.overdue([job]), runs.latest()],
      runs.events({ job, scope, periodKey }),
    ];
    for (const statement of statements)
      assert.deepEqual(readWithoutIndex(await planOf(database, application, statement)), [], statement.text);
  }),
);
