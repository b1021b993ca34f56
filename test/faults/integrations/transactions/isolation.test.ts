import assert from 'node:assert/strict';
import { ClaimLostError, LockExtender } from 'cronlatch';
import { testTransactions } from '../../../support/benches/transaction';
import { DATABASE_NAMES, SERVER_NAMES, type DatabaseName } from '../../../support/databases/fresh';

const PLACES = [
  { isolationLevel: 'READ COMMITTED', on: SERVER_NAMES },
  { isolationLevel: 'REPEATABLE READ', on: SERVER_NAMES },
  { isolationLevel: 'SERIALIZABLE', on: DATABASE_NAMES },
] as const;

/** How each database refuses a completion after another process has changed the row. */
function isLost(error: unknown, kind: DatabaseName, isolationLevel: string): boolean {
  const looksBack = kind === 'postgres' && isolationLevel !== 'READ COMMITTED';
  if (looksBack) return (error as { code?: string }).code === '40001';
  if (kind === 'sqlite') return (error as Error).message.includes('database is locked');
  // Recent releases of MariaDB refuse the update as PostgreSQL does, with 1020.
  return error instanceof ClaimLostError || (error as { errno?: number }).errno === 1020;
}

for (const { isolationLevel, on } of PLACES) {
  testTransactions(
    `at ${isolationLevel} a run is completed with its effects (L-10)`,
    async (bench, kind) => {
      const { inRunTransaction } = bench.application;
      await bench.run(() =>
        inRunTransaction(
          async (transaction) => {
            if (kind === 'postgres') {
              const shown = await transaction.query('SHOW transaction_isolation');
              assert.deepEqual(shown, [{ transaction_isolation: isolationLevel.toLowerCase() }]);
            }
            await transaction.query('SELECT * FROM effect');
            await bench.effect(transaction);
          },
          { isolationLevel },
        ),
      );
      await bench.is('completed', [1]);
    },
    { on, awaits: true },
  );

  testTransactions(
    `at ${isolationLevel} nothing is committed if the run was taken over since the transaction's first read (L-10)`,
    async (bench, kind) => {
      const { inRunTransaction } = bench.application;
      const done = bench.run(() =>
        inRunTransaction(
          async (transaction) => {
            await transaction.query('SELECT * FROM effect');
            await bench.seize();
            await bench.effect(transaction);
          },
          { isolationLevel },
        ),
      );
      await assert.rejects(done, (error) => isLost(error, kind, isolationLevel));
      await bench.is('running', []);
      assert.equal((await bench.row()).attempt, 2);
    },
    { on, awaits: true },
  );
}

testTransactions(
  'an extension inside the transaction does not keep it from completing the run',
  async (bench) => {
    const { inRunTransaction } = bench.application;
    await bench.run(() =>
      inRunTransaction(
        async (transaction) => {
          await transaction.query('SELECT * FROM cronlatch_run');
          assert.equal(await LockExtender.extendActiveLock('10m'), true);
          await bench.effect(transaction);
        },
        { isolationLevel: 'REPEATABLE READ' },
      ),
    );
    await bench.is('completed', [1]);
    const [warning] = bench.eventsOf('guard:warning');
    assert.match(String(warning?.error), /an open transaction is about to complete the run/);
  },
  { on: SERVER_NAMES },
);
