import assert from 'node:assert/strict';
import { ClaimLostError } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { reasonOf, runningJob } from '../../support/benches/guard';
import { testOnEvery } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { closeDay, countedTask } from '../../support/jobs/close-day';

const TABLES = ['shedlock', 'cronlatch_run'];

testOnEvery(
  'after a failover that loses a claim another instance runs the day, and the first one completes nothing (F-33)',
  async (database) => {
    const dataSource = await ledgerDataSource(database);
    const options = { logger: false, pollInterval: false } as const;
    const [first, second] = [
      await createJobGuard(dataSource, options),
      await createJobGuard(dataSource, options),
    ];
    try {
      const job = await runningJob(first, closeDay());
      for (const table of TABLES) await dataSource.query(`DELETE FROM ${table}`);
      const { task, runs } = countedTask();
      assert.deepEqual(await second.run(closeDay(), task), { executed: true, value: 'done' });
      job.finish('stale');
      assert.ok((await reasonOf(job.result)) instanceof ClaimLostError);
      const run = await first.ledger.last('close-day');
      assert.deepEqual([run?.state, run?.result, runs()], ['completed', '"done"', 1]);
    } finally {
      await first.close();
      await second.close();
      await dataSource.destroy();
    }
  },
);
