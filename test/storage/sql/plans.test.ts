/** With many locks, runs and jobs, statements read the rows that they need. */
import assert from 'node:assert/strict';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import { lockStatements } from '#cronlatch/storage/sql/lock/lock-statements';
import { parametersOf } from '#cronlatch/storage/sql/lock/sql-storage-accessor';
import { RunStatements } from '#cronlatch/storage/sql/ledger/run-statements';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { NamedStatement, type SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import type { RunQuery } from '#cronlatch/ledger/run-store';
import { answeredJson, jobTexts } from '#cronlatch/storage/sql/ledger/job-statements';
import type { SqlDialect } from '#cronlatch/storage/sql/dialects/sql-dialect';
import { dialectOf } from '#cronlatch/storage/typeorm/database';
import { dailyJob, fillRuns } from '../../cli/year-of-runs';
import { LIMIT } from '../../support/jobs/runs';
import { withRunStore } from '../../support/benches/run-store';
import { closing } from '../../support/benches/closing';
import { namesOf, requestOf } from '../../support/benches/grouping';
import { databaseOn, testOnEvery, testOnEveryServer, type DatabaseName } from '../../support/databases/fresh';
import { readWithoutIndex } from '../../support/databases/plans';
import { ledgerDataSource } from '../../support/databases/run-tables';

const MANY = 20_000;
const EVENT_OF_EACH_RUN = `INSERT INTO cronlatch_run_event (run_id, at, generation, attempt, kind, actor)
  SELECT id, created_at, 0, 1, 'failed', 'me' FROM cronlatch_run`;
/** Numbers from 0, as a table `n`. */
const NUMBERS = {
  mysql: `(WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 141)
    SELECT a.i * 142 + b.i AS i FROM n a CROSS JOIN n b LIMIT ${MANY}) n`,
  postgres: `generate_series(0, ${MANY - 1}) AS n(i)`,
};

testOnEveryServer(`with ${MANY} locks and runs, each statement reads by an index`, async (server) => {
  await using database = closing(await databaseOn(server));
  await using operator = closing(await ledgerDataSource(database));
  const dialect = server === 'postgres' ? postgres : mysql;
  const numbers = NUMBERS[dialect.name === 'postgres' ? 'postgres' : 'mysql'];
  const now = dialect.name === 'postgres' ? 'statement_timestamp()' : 'UTC_TIMESTAMP(6)';
  await operator.query(`INSERT INTO shedlock (name, lock_until, locked_at, locked_by, fencing_token)
        SELECT CONCAT('job-', i), ${now}, ${now}, 'another', 1 FROM ${numbers}`);
  await operator.query(`INSERT INTO cronlatch_run (job_name, scope, period_key, state, attempt, claimed_by,
          lock_id, lease_until, started_at, created_at, updated_at)
        SELECT CONCAT('job-', i), '', 'today', 'completed', 1, 'me', 'lock', ${now}, ${now}, ${now}, ${now} FROM ${numbers}`);
  await operator.query(EVENT_OF_EACH_RUN);
  for (const table of ['shedlock', 'cronlatch_run', 'cronlatch_run_event'])
    await operator.query(server === 'postgres' ? `ANALYZE ${table}` : `ANALYZE TABLE ${table}`);
  const { group } = lockStatements(dialect, tableOf('lock'), {
    ...{ now, clockStepMs: 0, hasToken: true, comparesBytes: true, insertReturnsToken: true },
    keyIndex: 'PRIMARY',
  });
  assert.ok(group);
  const members = namesOf(50).map((name) => parametersOf(requestOf(name)));
  const shape = { now, keyIndex: 'uq_cronlatch_run' };
  const runs = new RunStatements(dialect, { run: tableOf('run'), event: tableOf('event') }, shape);
  const peeks = namesOf(25).map((job) => ({ job, scope: '', periodKey: 'today', since: new Date() }));
  const run = { job: 'job-7', scope: '', periodKey: 'today' };
  const claim = { ...run, generation: 0, attempt: 1, claimedBy: 'me' };
  const statements: [string, SqlStatement][] = [
    ...(['takeOver', 'extend', 'unlock'] as const).map((key): [string, SqlStatement] => [
      key,
      group.write(key, members),
    ]),
    ...(group.read === undefined ? [] : [['read', group.read(members)] as [string, SqlStatement]]),
    ['peeks', runs.peek(peeks)],
    ['complete', runs.complete(claim, undefined)],
  ];
  for (const [name, { text, values }] of statements) {
    const plan = await operator.query<unknown[]>(`EXPLAIN ${text}`, [...values]);
    assert.deepEqual(readWithoutIndex(plan), [], name);
    if (name === 'complete') assert.doesNotMatch(JSON.stringify(plan), /ix_cronlatch_run_due/);
  }
});

const DAY_MS = 86_400_000;
const [JOBS, DAYS] = [200, 365];
const DRIVERS = { mysql: 'mysql2', mariadb: 'mysql2', postgres: 'pg', sqlite: 'better-sqlite3' } as const;

type Query = (text: string, values?: readonly unknown[]) => Promise<object[]>;

const explainOn = (kind: DatabaseName): string => (kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN');

/**
 * Summaries of many jobs are read by the index on the periods, which has them in their order. Counts have an order of
 * their own, so they are read by that index unless they are of most runs.
 */
async function overviewsAreReadByIndexes(
  kind: DatabaseName,
  runs: RunStatements,
  query: Query,
): Promise<void> {
  const to = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS);
  const planOf = async (count: number, days: number, read: 'summaries' | 'counts'): Promise<string> => {
    const jobs = Array.from({ length: count }, (_job, number) => `job-${number}`);
    const from = new Date(to.getTime() - days * DAY_MS);
    const [{ text, values }, most] =
      read === 'counts'
        ? [runs.counts({ jobs, from, to }), 50_000]
        : [runs.summaries({ jobs, from, to, limit: 1000 }), 1024];
    assert.equal((await query(text, values)).length, Math.min(count * days, most));
    const plan = await query(`${explainOn(kind)} ${text}`, values);
    assert.deepEqual(readWithoutIndex(plan), []);
    return JSON.stringify(plan);
  };
  for (const days of [30, DAYS]) {
    assert.match(await planOf(JOBS, days, 'summaries'), /ix_cronlatch_run_start/);
    assert.match(await planOf(1, days, 'summaries'), /(ix|uq)_cronlatch_run/);
  }
  assert.match(await planOf(JOBS, 30, 'counts'), /ix_cronlatch_run_start/);
  assert.match(await planOf(1, 30, 'counts'), /(ix|uq)_cronlatch_run/);
}

function statementsOn(dialect: SqlDialect, runs: RunStatements, now: string): readonly SqlStatement[] {
  const since = new Date(Date.now() - 3 * DAY_MS);
  const [job, scope, periodKey] = ['job-7', '', since.toISOString().slice(0, 10)];
  const queries: Partial<RunQuery>[] = [
    { job },
    { job, scope },
    { job, periodKey },
    { job, scope, periodKey },
    { job, states: ['pending', 'failed'] },
    { job, scope, states: ['skipped'] },
    { states: ['failed', 'interrupted'] },
    { from: since, to: new Date() },
  ];
  return [
    NamedStatement.byText(dialect.placeholder)(jobTexts(tableOf('job'), dialect, { now }).answer).bind({
      jobs: answeredJson([{ job, answeredAt: since }]),
    }),
    ...queries.map((query) => runs.find({ order: 'newest-first', limit: 100, ...query })),
    ...[runs.peek([{ job, scope, periodKey, since }]), runs.overdue([job]), runs.latest()],
    runs.events({ job, scope, periodKey }),
    runs.purgeable({ olderThanMs: DAY_MS, limit: 1000 }, 9000),
    runs.purgeable({ olderThanMs: 0, keptTicks: 1000, limit: 1000 }, 9000),
    runs.lockPurgeable(DAY_MS, [7, 9]),
  ];
}

testOnEvery(
  `with ${JOBS * DAYS} runs, each statement on runs and jobs reads by an index`,
  (database, _, kind) =>
    withRunStore(database, {}, async ({ application, store }) => {
      const query: Query = (text, values = []) => application.query<object[]>(text, [...values]);
      await fillRuns({ driver: DRIVERS[kind], query }, { jobs: JOBS, days: DAYS });
      await query(EVENT_OF_EACH_RUN);
      const jobs = Array.from({ length: JOBS }, (_job, number) => dailyJob(`job-${number}`));
      await store.registerJobs(jobs, LIMIT);
      for (const table of ['cronlatch_run_event', 'cronlatch_job'])
        await query(DRIVERS[kind] === 'mysql2' ? `ANALYZE TABLE ${table}` : `ANALYZE ${table}`);
      const dialect = dialectOf(database.options.type);
      const now = dialect.inspection.now({ type: '', precision: 6 });
      const shape = { now, keyIndex: 'uq_cronlatch_run' };
      const runs = new RunStatements(dialect, { run: tableOf('run'), event: tableOf('event') }, shape);
      await overviewsAreReadByIndexes(kind, runs, query);
      await application.transaction(async (manager) => {
        // PostgreSQL otherwise reads a small table as a whole, which is faster.
        if (kind === 'postgres') await manager.query('SET LOCAL enable_seqscan = off');
        for (const { text, values } of statementsOn(dialect, runs, now)) {
          const plan = await manager.query<unknown[]>(`${explainOn(kind)} ${text}`, [...values]);
          assert.deepEqual(readWithoutIndex(plan), [], text);
        }
      });
      if (kind !== 'sqlite') return;
      // Few applications let SQLite gather statistics.
      await query('DROP TABLE sqlite_stat1');
      await query('ANALYZE sqlite_schema');
      await overviewsAreReadByIndexes(kind, runs, query);
    }),
);
