import assert from 'node:assert/strict';
import { cronlatch } from '../../cli/cronlatch';
import { fillYear } from '../../cli/year-of-runs';
import { testDrivers } from '../../support/benches/driver';
import { readWithoutIndex } from '../../support/databases/plans';
import { statementLog } from '../../support/databases/statement-log';

testDrivers(
  'with 200 jobs and half a year of runs, status sends three statements, and the one on the runs uses indexes',
  async (bench, t) => {
    await bench.createTables();
    await fillYear(bench, { jobs: 200, days: 183 });
    const [server] = bench.url.replace('postgresql', 'postgres').split(':') as ['mysql'];
    const log = bench.driver === 'better-sqlite3' ? undefined : await statementLog(server, bench);
    try {
      const began = performance.now();
      const ended = await cronlatch(['status', '--json'], { env: { DATABASE_URL: log?.url ?? bench.url } });
      const tookMs = performance.now() - began;
      const idle = performance.now();
      await cronlatch(['--version']);
      t.diagnostic(`status took ${Math.round(tookMs - (performance.now() - idle))} ms longer than --version`);
      assert.deepEqual([ended.status, ended.stderr], [0, '']);
      const { jobs } = JSON.parse(ended.stdout) as {
        jobs: { problems: unknown[]; lastRun: object | null }[];
      };
      assert.equal(jobs.length, 200);
      assert.ok(jobs.every(({ problems, lastRun }) => problems.length === 0 && lastRun !== null));
      if (log === undefined) return;
      const sent = log
        .statements()
        .filter((text) => /\b(FROM|JOIN)\s+\S*(cronlatch_(run|job)|shedlock)\b/.test(text));
      assert.equal(sent.length, 3, sent.join('\n'));
      const [onRuns = ''] = sent.filter((text) => text.includes('cronlatch_run'));
      const explain = bench.driver === 'better-sqlite3' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
      assert.deepEqual(readWithoutIndex(await bench.query(`${explain} ${onRuns}`)), []);
    } finally {
      await log?.close();
    }
  },
);
