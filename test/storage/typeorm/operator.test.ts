import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { SchemaMismatchError, type LockConfiguration } from 'cronlatch';
import { createCronlatchMigration, createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { nextEvent, runningJob } from '../../support/benches/guard';
import { eventually } from '../../support/clocks/eventually';
import { databaseOn, testOn, testOnEvery } from '../../support/databases/fresh';
import { insertLockRow, lockRows, migratedDataSource, shiftBack } from '../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '30s' };
const FAR_AWAY_MS = 10 * 365 * 24 * 3_600_000;

testOnEvery(
  'a job whose row is deleted learns it at its next renewal, and the next token is higher (F-60)',
  async (database) => {
    const dataSource = await migratedDataSource(database);
    const guard = await createJobGuard(dataSource, { logger: false });
    const other = await createJobGuard(dataSource);
    // The library's own timers do not keep the process alive, and neither does a file.
    const alive = setInterval(() => {}, 60_000);
    try {
      const job = await runningJob(guard, { ...JOB, keepAlive: '300ms' });
      const lost = nextEvent(guard, 'lock:lost');
      await dataSource.query('DELETE FROM shedlock');
      assert.equal((await lost).name, 'job');
      assert.equal(job.lock.signal.aborted, true);
      const next = await other.run(JOB, ({ fencingToken }) => fencingToken);
      assert.ok(next.executed && (next.value ?? 0) > (job.lock.fencingToken ?? Infinity));
      job.finish('late');
      assert.deepEqual(await job.result, { executed: true, value: 'late' });
      assert.equal((await lockRows(dataSource))[0]?.token, next.value, 'the late release changes nothing');
    } finally {
      clearInterval(alive);
      await guard.close();
      await other.close();
      await dataSource.destroy();
    }
  },
);

testOnEvery(
  'a row edited to end in ten years is held, a row edited to have ended is free, and each grant starts a full lease (F-62)',
  async (database) => {
    await using dataSource = closing(await migratedDataSource(database));
    await using guard = closing(await createJobGuard(dataSource));
    await insertLockRow(dataSource, { name: 'job', lockedBy: 'operator', endsInMs: FAR_AWAY_MS });
    assert.deepEqual(await guard.run(JOB, () => 'ran'), { executed: false, reason: 'locked' });
    await shiftBack(dataSource, 2 * FAR_AWAY_MS);
    assert.deepEqual(await guard.run(JOB, () => 'ran'), { executed: true, value: 'ran' });
    const job = await runningJob(guard, JOB);
    const [row] = await lockRows(dataSource);
    assert.equal((row?.lockUntilUs ?? 0) - (row?.lockedAtUs ?? 0), 30_000_000);
    job.finish();
    await job.result;
  },
);

testOnEvery(
  'a guard that starts before its table exists fails each tick, and works as soon as the table exists (F-63)',
  async (database) => {
    await using dataSource = closing(await new DataSource(database.options).initialize());
    await using guard = closing(await createJobGuard(dataSource, { lazy: true, logger: false }));
    const tick = guard.wrap(JOB, () => 'ran');
    for (let before = 1; before <= 2; before += 1) {
      const failed = nextEvent(guard, 'lock:failed');
      assert.equal(await tick(), undefined);
      assert.ok((await failed).error instanceof SchemaMismatchError);
    }
    const runner = dataSource.createQueryRunner();
    await new (createCronlatchMigration({ tables: ['lock'] }))().up(runner);
    await runner.release();
    assert.equal(await tick(), 'ran');
  },
);

testOnEvery(
  'two applications with separate tables do not share a lock of the same name; with one table they do (F-70)',
  async (database) => {
    const dataSource = await migratedDataSource(database);
    const runner = dataSource.createQueryRunner();
    await new (createCronlatchMigration({ tables: ['lock'], lockTable: 'billing_locks' }))().up(runner);
    await runner.release();
    const guards = await Promise.all(
      ['shedlock', 'billing_locks', 'shedlock'].map((lockTable) => createJobGuard(dataSource, { lockTable })),
    );
    const [shop, billing, another] = guards;
    try {
      assert.ok(shop && billing && another);
      const job = await runningJob(shop, JOB);
      assert.equal((await billing.run(JOB, () => {})).executed, true);
      assert.deepEqual(await another.run(JOB, () => {}), { executed: false, reason: 'locked' });
      job.finish();
      await job.result;
    } finally {
      for (const guard of guards) await guard.close();
      await dataSource.destroy();
    }
  },
);

testOnEvery('deleting the row of a free lock costs no later tick (F-60)', async (database) => {
  const dataSource = await migratedDataSource(database);
  const [holder, guard] = [await createJobGuard(dataSource), await createJobGuard(dataSource)];
  try {
    const job = await runningJob(holder, { ...JOB, lockAtMostFor: '2s' });
    for (let tick = 0; tick < 2; tick += 1)
      assert.deepEqual(await guard.run(JOB, () => 'ran'), { executed: false, reason: 'locked' });
    const [row] = await lockRows(dataSource);
    job.finish();
    await job.result;
    await dataSource.query('DELETE FROM shedlock');
    // If the database cannot report a missing row, the provider notices it when the known lease has ended.
    if (!/mysql|mariadb/.test(String(database.options.type)))
      await eventually(
        () => Promise.resolve(Date.now() * 1000 > (row?.lockUntilUs ?? 0)),
        'the end of the lease',
      );
    assert.deepEqual(await guard.run(JOB, () => 'ran'), { executed: true, value: 'ran' });
  } finally {
    await holder.close();
    await guard.close();
    await dataSource.destroy();
  }
});

testOn('postgres', 'a trigger that drops inserts makes each tick an error that names the cause', async () => {
  await using database = closing(await databaseOn('postgres'));
  await using dataSource = closing(await migratedDataSource(database));
  await using guard = closing(await createJobGuard(dataSource, { logger: false }));
  await dataSource.query(
    `CREATE FUNCTION dropped() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  );
  await dataSource.query(
    `CREATE TRIGGER dropping BEFORE INSERT ON shedlock FOR EACH ROW EXECUTE FUNCTION dropped()`,
  );
  for (let tick = 0; tick < 3; tick += 1)
    await assert.rejects(
      guard.run(JOB, () => assert.fail('ran')),
      /Does a trigger or a rule drop the insert/,
    );
  await dataSource.query('DROP TRIGGER dropping ON shedlock');
  assert.deepEqual(await guard.run(JOB, () => 'ran'), { executed: true, value: 'ran' });
});
