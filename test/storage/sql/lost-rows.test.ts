/** Rows that an operator, a failover or a trigger removes or changes. */
import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { ClaimLostError, type LockConfiguration } from 'cronlatch';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { testOnDatabases } from '../../support/benches/database';
import { nextEvent, reasonOf, runningJob } from '../../support/benches/guard';
import { eventually } from '../../support/clocks/eventually';
import { insertLockRow, lockRows, shiftBack } from '../../support/databases/lock-table';
import { closeDay, countedTask } from '../../support/jobs/close-day';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '30s' };
const LONG = { name: 'job', lockAtMostFor: '1h' } as const;
const FAR_AWAY_MS = 10 * 365 * 24 * 3_600_000;
const LOCKED = { executed: false, reason: 'locked' };
const RAN = { executed: true, value: 'ran' };

testOnDatabases(
  'a job whose row is deleted learns it at its next renewal, and the next token is higher (F-60)',
  async (bench) => {
    const [guard, other] = [await bench.openGuard(), await bench.openGuard()];
    bench.keepProcessAlive();
    const job = await runningJob(guard, { ...JOB, keepAlive: '300ms' });
    const lost = nextEvent(guard, 'lock:lost');
    await bench.application.query('DELETE FROM shedlock');
    assert.equal((await lost).name, 'job');
    assert.equal(job.lock.signal.aborted, true);
    const next = await other.run(JOB, ({ fencingToken }) => fencingToken);
    assert.ok(next.executed && (next.value ?? 0) > (job.lock.fencingToken ?? Infinity));
    job.finish('late');
    assert.deepEqual(await job.result, { executed: true, value: 'late' });
    const [row] = await lockRows(bench.application);
    assert.equal(row?.token, next.value, 'the late release changes nothing');
  },
);

testOnDatabases(
  'a row edited to end in ten years is held, a row edited to have ended is free, and each grant starts a full lease (F-62)',
  async (bench) => {
    const { application } = bench;
    const guard = await bench.openGuard();
    await insertLockRow(application, { name: 'job', lockedBy: 'operator', endsInMs: FAR_AWAY_MS });
    assert.deepEqual(await guard.run(JOB, () => 'ran'), LOCKED);
    await shiftBack(application, 2 * FAR_AWAY_MS);
    assert.deepEqual(await guard.run(JOB, () => 'ran'), RAN);
    const job = await runningJob(guard, JOB);
    const [row] = await lockRows(application);
    assert.equal((row?.lockUntilUs ?? 0) - (row?.lockedAtUs ?? 0), 30_000_000);
    job.finish();
    await job.result;
  },
);

testOnDatabases(
  'two applications with separate tables do not share a lock of the same name; with one table they do (F-70)',
  async (bench) => {
    const runner = bench.application.createQueryRunner();
    await new (createCronlatchMigration({ tables: ['lock'], lockTable: 'billing_locks' }))().up(runner);
    await runner.release();
    const [shop, another] = [await bench.openGuard(), await bench.openGuard()];
    const billing = await bench.openGuard({ lockTable: 'billing_locks' });
    const job = await runningJob(shop, JOB);
    assert.equal((await billing.run(JOB, () => {})).executed, true);
    assert.deepEqual(await another.run(JOB, () => {}), LOCKED);
    job.finish();
    await job.result;
  },
);

testOnDatabases('deleting the row of a free lock costs no later tick (F-60)', async (bench, kind) => {
  const [holder, guard] = [await bench.openGuard(), await bench.openGuard()];
  const job = await runningJob(holder, { ...JOB, lockAtMostFor: '2s' });
  for (let tick = 0; tick < 2; tick += 1) assert.deepEqual(await guard.run(JOB, () => 'ran'), LOCKED);
  const [row] = await lockRows(bench.application);
  job.finish();
  await job.result;
  await bench.application.query('DELETE FROM shedlock');
  // If the database cannot report a missing row, the provider notices it when the known lease has ended.
  const hasEnded = (): boolean => Date.now() * 1000 > (row?.lockUntilUs ?? 0);
  if (!/mysql|mariadb/.test(kind))
    await eventually(() => Promise.resolve(hasEnded()), 'the end of the lease');
  assert.deepEqual(await guard.run(JOB, () => 'ran'), RAN);
});

testOnDatabases(
  'a trigger that drops inserts makes each tick an error that names the cause',
  async (bench) => {
    const { application } = bench;
    const guard = await bench.openGuard();
    await application.query(
      `CREATE FUNCTION dropped() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
    );
    await application.query(
      `CREATE TRIGGER dropping BEFORE INSERT ON shedlock FOR EACH ROW EXECUTE FUNCTION dropped()`,
    );
    for (let tick = 0; tick < 3; tick += 1)
      await assert.rejects(
        guard.run(JOB, () => assert.fail('ran')),
        /Does a trigger or a rule drop the insert/,
      );
    await application.query('DROP TRIGGER dropping ON shedlock');
    assert.deepEqual(await guard.run(JOB, () => 'ran'), RAN);
  },
  ['postgres'],
);

/** Writes as the holder of the token, and returns the total after it. */
async function totalAfter(dataSource: DataSource, total: number, token: number): Promise<number> {
  await dataSource.query(`UPDATE register SET total = ${total}, token = ${token} WHERE token <= ${token}`);
  const [row] = await dataSource.query<{ total: unknown }[]>('SELECT total FROM register');
  return Number(row?.total);
}

for (const lost of ['take-over', 'first insert'])
  testOnDatabases(
    `after a failover that loses a ${lost} another holder gets a higher token, and the first one changes nothing (F-33)`,
    async (bench) => {
      const { application } = bench;
      const [first, second] = [bench.provider(), bench.provider()];
      await application.query('CREATE TABLE register (total INTEGER NOT NULL, token BIGINT NOT NULL)');
      await application.query('INSERT INTO register VALUES (0, 0)');
      if (lost === 'take-over') await (await first.lock(LONG))?.unlock();
      await application.query('CREATE TABLE standby AS SELECT * FROM shedlock');
      const before = await first.lock(LONG);
      // The standby becomes the primary, and later writes are lost.
      await application.query('DELETE FROM shedlock');
      await application.query('INSERT INTO shedlock SELECT * FROM standby');
      const after = await second.lock(LONG);
      assert.ok(before?.fencingToken && after?.fencingToken && after.fencingToken > before.fencingToken);
      assert.equal(await totalAfter(application, 2, after.fencingToken), 2);
      assert.equal(await totalAfter(application, 1, before.fencingToken), 2);
      assert.equal(await before.extend('10m'), false);
      assert.equal(before.signal.aborted, true);
      assert.equal(await before.unlock(), false);
      const [row] = await lockRows(application);
      assert.deepEqual([row?.held, row?.token], [true, after.fencingToken]);
    },
  );

testOnDatabases(
  'a grant without a reply that returns with its server expires without a holder (F-34)',
  async (bench) => {
    const [first, second] = [bench.provider(), bench.provider()];
    await insertLockRow(bench.application, { name: 'job', lockedBy: 'web-1/803/lost', endsInMs: 600_000 });
    for (const provider of [first, second]) assert.equal(await provider.lock(LONG), undefined);
    await shiftBack(bench.application, 600_000);
    const lock = await first.lock(LONG);
    assert.equal(await second.lock(LONG), undefined);
    assert.equal(await lock?.unlock(), true);
  },
);

testOnDatabases(
  'after a failover that loses a claim another instance runs the day, and the first one completes nothing (F-33)',
  async (bench) => {
    const [first, second] = [await bench.openGuard(), await bench.openGuard()];
    const job = await runningJob(first, closeDay());
    for (const table of ['shedlock', 'cronlatch_run']) await bench.application.query(`DELETE FROM ${table}`);
    const { task, runs } = countedTask();
    assert.deepEqual(await second.run(closeDay(), task), { executed: true, value: 'done' });
    job.finish('stale');
    assert.ok((await reasonOf(job.result)) instanceof ClaimLostError);
    const run = await first.ledger.last('close-day');
    assert.deepEqual([run?.state, run?.result, runs()], ['completed', '"done"', 1]);
  },
);

for (const [which, isRecreated] of [
  ['whose table was dropped and created again', true],
  ['whose row was deleted', false],
] as const)
  testOnDatabases(`a lock ${which} is granted at once to a process that was just refused`, async (bench) => {
    const [holder, refused] = [bench.provider(), bench.provider()];
    assert.ok(await holder.lock(LONG));
    for (let tick = 1; tick <= 2; tick += 1) assert.equal(await refused.lock(LONG), undefined);
    await bench.application.query(isRecreated ? 'DROP TABLE shedlock' : 'DELETE FROM shedlock');
    const runner = bench.application.createQueryRunner();
    await new (createCronlatchMigration({ tables: ['lock'] }))().up(runner);
    await runner.release();
    assert.ok(await refused.lock(LONG));
    assert.equal(await holder.lock(LONG), undefined);
  });
