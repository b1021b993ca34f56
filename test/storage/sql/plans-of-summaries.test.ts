/** Summaries of many jobs are read by the index on the periods, which has them in their order. */
import assert from 'node:assert/strict';
import { dialectOf } from '#cronlatch/storage/typeorm/database';
import { RunStatements } from '#cronlatch/storage/sql/ledger/run-statements';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { fillRuns } from '../../cli/year-of-runs';
import { withRunStore } from '../../support/benches/run-store';
import { testOnEvery } from '../../support/databases/fresh';
import { readWithoutIndex } from '../../support/databases/plans';

const DAY_MS = 86_400_000;
const [JOBS, DAYS] = [200, 365];
const DRIVERS = { mysql: 'mysql2', mariadb: 'mysql2', postgres: 'pg', sqlite: 'better-sqlite3' } as const;

testOnEvery(`with ${JOBS * DAYS} runs, summaries are read by an index`, (database, _, kind) =>
  withRunStore(database, {}, async ({ application }) => {
    const query = (text: string, values: unknown[] = []) => application.query<object[]>(text, values);
    await fillRuns({ driver: DRIVERS[kind], query }, { jobs: JOBS, days: DAYS });
    const dialect = dialectOf(database.options.type);
    const shape = { now: dialect.inspection.now({ type: '', precision: 6 }) };
    const runs = new RunStatements(dialect, { run: tableOf('run'), event: tableOf('event') }, shape);
    const to = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS);
    const planOf = async (count: number, days: number): Promise<string> => {
      const jobs = Array.from({ length: count }, (_job, number) => `job-${number}`);
      const from = new Date(to.getTime() - days * DAY_MS);
      const { text, values } = runs.summaries({ jobs, from, to, limit: 1000 });
      const found = await query(text, [...values]);
      assert.equal(found.length, Math.min(count * days, 1024));
      const explain = kind === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
      const plan = await query(`${explain} ${text}`, [...values]);
      assert.deepEqual(readWithoutIndex(plan), []);
      return JSON.stringify(plan);
    };
    const readsByIndexes = async (): Promise<void> => {
      for (const days of [30, DAYS]) {
        assert.match(await planOf(JOBS, days), /ix_cronlatch_run_start/);
        assert.match(await planOf(1, days), /(ix|uq)_cronlatch_run/);
      }
    };
    await readsByIndexes();
    if (kind !== 'sqlite') return;
    // Few applications let SQLite gather statistics.
    await query('DROP TABLE sqlite_stat1');
    await query('ANALYZE sqlite_schema');
    await readsByIndexes();
  }),
);
