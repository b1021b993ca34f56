import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { testOnServers } from '../../support/benches/server';
import { databaseOn } from '../../support/databases/fresh';
import { lockRows } from '../../support/databases/lock-table';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { statementLog } from '../../support/databases/statement-log';
import { closeDay } from '../../support/jobs/close-day';

testOnServers('with replicas that lag behind, locks and runs use only the primary (F-35)', async (bench) => {
  await (await ledgerDataSource(bench.database)).destroy();
  await using replica = closing(await databaseOn(bench.server));
  // It has the tables, but never receives a lock or a run.
  await (await ledgerDataSource(replica)).destroy();
  await using log = closing(await statementLog(bench.server, replica));
  const replication = { master: { url: bench.database.url }, slaves: [{ url: log.url }] };
  await using dataSource = closing(await bench.dataSource({ url: undefined, replication }).initialize());
  // TypeORM's own reads go there, so the test would notice any other read.
  await dataSource.createQueryBuilder().select('name').from('shedlock', 'locks').getRawMany();
  const own = log.statements();
  assert.equal(own.filter((text) => /shedlock/.test(text)).length, 1);

  const options = { pollInterval: false, logger: false } as const;
  const guards = [await createJobGuard(dataSource, options), await createJobGuard(dataSource, options)];
  const [first, second] = guards;
  assert.ok(first && second);
  const job = { name: 'job', lockAtMostFor: '1m' } as const;
  const result = await first.run(job, async (lock) => {
    assert.deepEqual(await second.run(job, () => {}), { executed: false, reason: 'locked' });
    assert.equal(await lock.extend('2m'), true);
  });
  assert.equal(result.executed, true);

  assert.equal((await first.run(closeDay(), () => {})).executed, true);
  assert.deepEqual(await second.run(closeDay(), () => {}), {
    executed: false,
    reason: 'already-completed',
  });
  assert.equal((await second.ledger.last(closeDay().name))?.state, 'completed');
  await second.runOverdue();

  const names = (await lockRows(bench.application)).map(({ name }) => name);
  assert.deepEqual(names, [closeDay().name, 'job'].sort());
  for (const guard of guards) await guard.close();
  assert.deepEqual(
    log.statements().filter((text) => /shedlock|cronlatch_run/.test(text)),
    [],
  );
});
