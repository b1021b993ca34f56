/** With many locks and runs, the statements for groups, and the completion of a run, read the rows that they need. */
import assert from 'node:assert/strict';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import { lockStatements } from '#cronlatch/storage/sql/lock/lock-statements';
import { parametersOf } from '#cronlatch/storage/sql/lock/sql-storage-accessor';
import { RunStatements } from '#cronlatch/storage/sql/ledger/run-statements';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import type { SqlStatement } from '#cronlatch/storage/sql/connections/statement';
import { closing } from '../../support/benches/closing';
import { namesOf, requestOf } from '../../support/benches/grouping';
import { databaseOn, testOnEveryServer } from '../../support/databases/fresh';
import { readWithoutIndex } from '../../support/databases/plans';
import { ledgerDataSource } from '../../support/databases/run-tables';

const MANY = 20_000;
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
  await operator.query(`INSERT INTO cronlatch_run_event (run_id, at, generation, attempt, kind, actor)
        SELECT id, created_at, 0, 1, 'failed', 'me' FROM cronlatch_run`);
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
  const claim = {
    job: 'job-7',
    scope: '',
    periodKey: 'today',
    generation: 0,
    attempt: 1,
    claimedBy: 'me',
  };
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
