import assert from 'node:assert/strict';
import { createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { databaseOn, testOnEveryServer, type Administrator } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';

const DAILY = {
  ...{ name: 'job', lockAtMostFor: '10m' },
  oncePer: { period: () => 'today', timeZone: 'UTC' },
} as const;

testOnEveryServer(
  'a run is completed in a transaction of a session that was left in another schema (L6, F-57)',
  async (server) => {
    await using database = closing(await databaseOn(server));
    const tenant = server === 'postgres' ? 'tenant' : `${database.name}_tenant`;
    const root: Administrator = database.root;
    await root.query(`CREATE SCHEMA ${tenant}`);
    await using application = closing(await ledgerDataSource(database, { poolSize: 1 }));
    await using guard = closing(await createJobGuard(application, { logger: false, pollInterval: false }));
    try {
      // The tenant has tables of the same names.
      for (const table of ['cronlatch_run', 'cronlatch_run_event'])
        await root.query(
          server === 'postgres'
            ? `CREATE TABLE ${tenant}.${table} (LIKE public.${table} INCLUDING ALL)`
            : `CREATE TABLE ${tenant}.${table} LIKE ${table}`,
        );
      await application.query(server === 'postgres' ? `SET search_path = ${tenant}` : `USE ${tenant}`);
      const result = await guard.run(DAILY, () => inRunTransaction(() => Promise.resolve('paid')));
      assert.deepEqual(result, { executed: true, value: 'paid' });
      const run = await guard.ledger.get({ job: 'job', periodKey: 'today' });
      assert.deepEqual([run?.state, run?.attempt], ['completed', 1]);
    } finally {
      if (server !== 'postgres') await root.query(`DROP SCHEMA ${tenant}`);
    }
  },
);
