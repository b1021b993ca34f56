import assert from 'node:assert/strict';
import { ClaimLostError, LockExtender } from 'cronlatch';
import { inRunTransaction } from 'cronlatch/typeorm';
import { testTransactions } from '../../../support/benches/transaction';
import { SERVER_NAMES, type DatabaseName } from '../../../support/databases/fresh';

const ON_SERVERS: readonly DatabaseName[] = SERVER_NAMES;

const PLACES = [
  { isolationLevel: 'READ COMMITTED', on: ON_SERVERS },
  { isolationLevel: 'REPEATABLE READ', on: ON_SERVERS },
  { isolationLevel: 'SERIALIZABLE', on: [...ON_SERVERS, 'sqlite'] },
] as const;

for (const { isolationLevel, on } of PLACES) {
  testTransactions(
    `at ${isolationLevel} a run is completed with its effects (L-10)`,
    async (bench, kind) => {
      await bench.run(() =>
        inRunTransaction(
          async (manager) => {
            if (kind === 'postgres') {
              const shown = await manager.query<unknown[]>('SHOW transaction_isolation');
              assert.deepEqual(shown, [{ transaction_isolation: isolationLevel.toLowerCase() }]);
            }
            await manager.query('SELECT * FROM effect');
            await bench.effect(manager);
          },
          { isolationLevel },
        ),
      );
      assert.deepEqual(await bench.effects(), [1]);
      assert.equal((await bench.row()).state, 'completed');
    },
    { on },
  );

  testTransactions(
    `at ${isolationLevel} nothing is committed if the run was taken over since the transaction's first read (L-10)`,
    async (bench, kind) => {
      const done = bench.run(() =>
        inRunTransaction(
          async (manager) => {
            await manager.query('SELECT * FROM effect');
            await bench.seize();
            await bench.effect(manager);
          },
          { isolationLevel },
        ),
      );
      await assert.rejects(done, (error) => {
        const looksBack = kind === 'postgres' && isolationLevel !== 'READ COMMITTED';
        if (looksBack) return (error as { code?: string }).code === '40001';
        if (kind === 'sqlite') return (error as Error).message.includes('database is locked');
        // Recent releases of MariaDB refuse the update as PostgreSQL does, with 1020.
        return error instanceof ClaimLostError || (error as { errno?: number }).errno === 1020;
      });
      const { state, attempt } = await bench.row();
      assert.deepEqual([state, attempt], ['running', 2]);
      assert.deepEqual(await bench.effects(), []);
    },
    { on },
  );
}

testTransactions(
  'an extension inside the transaction does not keep it from completing the run',
  async (bench) => {
    await bench.run(() =>
      inRunTransaction(
        async (manager) => {
          await manager.query('SELECT * FROM cronlatch_run');
          assert.equal(await LockExtender.extendActiveLock('10m'), true);
          await bench.effect(manager);
        },
        { isolationLevel: 'REPEATABLE READ' },
      ),
    );
    assert.deepEqual(await bench.effects(), [1]);
    assert.equal((await bench.row()).state, 'completed');
    const [warning] = bench.eventsOf('guard:warning');
    assert.match(String(warning?.error), /an open transaction is about to complete the run/);
  },
  { on: SERVER_NAMES },
);

testTransactions(
  'an isolation level that the database does not have is rejected by TypeORM, and has no effect',
  async (bench) => {
    await bench.run(async () => {
      const done = inRunTransaction(() => assert.fail(), { isolationLevel: 'REPEATABLE READ' });
      await assert.rejects(done, /REPEATABLE READ/);
      await inRunTransaction((manager) => bench.effect(manager));
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
  { on: ['sqlite'] },
);
