import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { testOnEvery, type TestDatabase } from '../../support/databases/fresh';
import { insertLockRow, lockRows, migratedDataSource, shiftBack } from '../../support/databases/lock-table';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;

interface Fleet {
  readonly dataSource: DataSource;
  readonly first: TypeOrmLockProvider;
  readonly second: TypeOrmLockProvider;
}

async function withFleet(database: TestDatabase, body: (fleet: Fleet) => Promise<void>): Promise<void> {
  const dataSource = await migratedDataSource(database);
  const [first, second] = [new TypeOrmLockProvider(dataSource), new TypeOrmLockProvider(dataSource)];
  try {
    await body({ dataSource, first, second });
  } finally {
    await first.close();
    await second.close();
    await dataSource.destroy();
  }
}

/** A standby's copy so far; when it becomes the primary, all later writes are lost. */
async function standbyOf(dataSource: DataSource): Promise<{ promote(): Promise<void> }> {
  await dataSource.query('CREATE TABLE standby AS SELECT * FROM shedlock');
  return {
    async promote() {
      await dataSource.query('DELETE FROM shedlock');
      await dataSource.query('INSERT INTO shedlock SELECT * FROM standby');
    },
  };
}

async function rowsWritten(
  dataSource: DataSource,
  { total, token }: { total: number; token: number | undefined },
): Promise<unknown> {
  await dataSource.query(
    `UPDATE register SET total = ${total}, token = ${token ?? 0} WHERE token <= ${token ?? 0}`,
  );
  const [row] = await dataSource.query<{ total: unknown }[]>('SELECT total FROM register');
  return Number(row?.total);
}

for (const lost of ['take-over', 'first insert']) {
  testOnEvery(
    `after a failover that loses a ${lost} another holder gets a higher token, and the first one changes nothing (F-33)`,
    (database) =>
      withFleet(database, async ({ dataSource, first, second }) => {
        await dataSource.query('CREATE TABLE register (total INTEGER NOT NULL, token BIGINT NOT NULL)');
        await dataSource.query('INSERT INTO register VALUES (0, 0)');
        if (lost === 'take-over') await (await first.lock(JOB))?.unlock();
        const standby = await standbyOf(dataSource);
        const before = await first.lock(JOB);
        await standby.promote();
        const after = await second.lock(JOB);
        assert.ok(before && after && (after.fencingToken ?? 0) > (before.fencingToken ?? Infinity));
        assert.equal(await rowsWritten(dataSource, { total: 2, token: after.fencingToken }), 2);
        assert.equal(await rowsWritten(dataSource, { total: 1, token: before.fencingToken }), 2);
        assert.equal(await before.extend('10m'), false);
        assert.equal(before.signal.aborted, true);
        assert.equal(await before.unlock(), false);
        const [row] = await lockRows(dataSource);
        assert.deepEqual([row?.held, row?.token], [true, after.fencingToken]);
      }),
  );
}

testOnEvery(
  'a grant without a reply that returns with its server expires without a holder (F-34)',
  (database) =>
    withFleet(database, async ({ dataSource, first, second }) => {
      await insertLockRow(dataSource, { name: JOB.name, lockedBy: 'web-1/803/lost', endsInMs: 600_000 });
      for (const provider of [first, second]) assert.equal(await provider.lock(JOB), undefined);
      await shiftBack(dataSource, 600_000);
      const lock = await first.lock(JOB);
      assert.ok(lock?.fencingToken);
      assert.equal(await second.lock(JOB), undefined);
      assert.equal(await lock.unlock(), true);
    }),
);
