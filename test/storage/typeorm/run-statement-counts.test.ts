import assert from 'node:assert/strict';
import { DatabaseAccess } from '#cronlatch/storage/sql/database/database-access';
import { SqlLockProvider } from '#cronlatch/storage/sql/database/sql-lock-provider';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { testOnServers } from '../../support/benches/server';
import { eventually } from '../../support/clocks/eventually';
import { createRunTables } from '../../support/databases/run-tables';
import { statementLog } from '../../support/databases/statement-log';
import { CLAIM, FAILED, LIMIT, PENDING, RUNNING } from '../../support/jobs/runs';
import { TypeOrmRunStore } from '../../support/stores/typeorm-run-store';

testOnServers('each step of the ledger costs the expected number of statements', async (bench) => {
  await createRunTables(bench.application);
  const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
  const store = bench.closeAtEnd(new TypeOrmRunStore(bench.dataSource({ url: log.url })));
  await store.check();
  const atStart = log.statements().length;
  assert.equal(atStart, 3, 'one statement describes both tables');

  await store.peek({ ...CLAIM, since: RUNNING.periodStart }, LIMIT);
  await store.insert(RUNNING, LIMIT);
  assert.equal(await store.insert(RUNNING, LIMIT), false);
  await store.insert({ ...PENDING, scope: 'eu', event: FAILED }, LIMIT);
  await store.complete(CLAIM, undefined, LIMIT);
  await store.change(
    CLAIM,
    (found) => ({ value: 0, write: found?.run ?? assert.fail(), events: [FAILED] }),
    LIMIT,
  );
  await store.overdue([RUNNING.job], LIMIT);
  await store.summaries({ jobs: ['a', 'b', 'c'], from: new Date(0), to: new Date(), limit: 10 }, LIMIT);

  const begin = bench.server === 'postgres' ? 'BEGIN' : 'START';
  // Read once, because the log that a server shares among all tests is long.
  const sent = log.statements().map((text) => text.trim().replace(/\s.*/s, ''));
  assert.deepEqual(sent, [
    'SELECT', // peek
    'INSERT', // insert
    ...(bench.server === 'postgres' ? ['INSERT'] : ['INSERT', 'SELECT']), // insert of a run that exists
    ...[begin, 'INSERT', 'INSERT', 'COMMIT'], // insert with an event
    'UPDATE', // complete
    ...[begin, 'SELECT', 'UPDATE', 'INSERT', 'COMMIT'], // change
    'SELECT', // overdue
    'SELECT', // summaries
  ]);
});

testOnServers('the locks and the runs of one guard share the same two connections', async (bench) => {
  await createRunTables(bench.application);
  await bench.application.destroy();
  const database = databaseOf(bench.dataSource());
  const access = bench.closeAtEnd(new DatabaseAccess(database, {}));
  const provider = new SqlLockProvider(database, {}, access);
  const store = new SqlRunStore(access.forRuns({}));
  const keys = Array.from({ length: 20 }, (_, number) => `${number}`);
  await Promise.all([
    ...keys.map((name) => provider.lock({ name, lockAtMostFor: '1m' }).then((lock) => lock?.unlock())),
    ...keys.map(async (periodKey) => {
      await store.insert({ ...RUNNING, periodKey }, LIMIT);
      await store.change({ ...CLAIM, periodKey }, () => ({ value: 0 }), LIMIT);
      assert.equal(await store.complete({ ...CLAIM, periodKey }, undefined, LIMIT), true);
    }),
  ]);
  // On a slow machine a third connection may have been borrowed while the first two were opened.
  await eventually(async () => (await bench.stranger.countSessions()) === 2, 'two connections are kept');
  // The provider does not close the access that it was given.
  await provider.close();
  assert.equal((await store.overdue([RUNNING.job], LIMIT)).length, 0);
});
