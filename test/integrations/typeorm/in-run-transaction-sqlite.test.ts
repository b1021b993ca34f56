/** Cases for databases in which all transactions of a DataSource share one connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeRunIn, createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { turn } from '../../support/benches/lock';
import { JOB, testTypeOrmTransactions } from '../../support/benches/transaction';
import { createEffectTable, effectsIn, makeEffect } from '../../support/databases/effects';
import { ledgerDataSource } from '../../support/databases/run-tables';

const ON_SQLITE = { on: ['sqlite'] } as const;

testTypeOrmTransactions(
  'two jobs of one process run their transactions one after the other',
  async (bench) => {
    const names = ['close-day', 'send-invoices', 'count-stock'];
    const fails = new Error('this one rolls back');
    const jobs = names.map((name) => {
      const handler = (): Promise<void> =>
        inRunTransaction(async (manager) => {
          await bench.effect(manager);
          await turn();
          if (name === 'send-invoices') throw fails;
        });
      return bench.run(handler, { name }).catch((error: unknown) => error);
    });
    const [first, second, third] = await Promise.all(jobs);
    assert.deepEqual(
      [first, second, third],
      [{ executed: true, value: undefined }, fails, { executed: true, value: undefined }],
    );
    assert.equal((await bench.effects()).length, 2);
    const states = await bench.database.ask('SELECT state FROM cronlatch_run ORDER BY job_name');
    assert.deepEqual(
      states.map(({ state }) => state),
      ['completed', 'completed', 'failed'],
    );
  },
  ON_SQLITE,
);

testTypeOrmTransactions(
  'if a reader of the file blocks a COMMIT, nothing is committed, and the next COMMIT succeeds',
  async (bench) => {
    // Without a write-ahead log, a reader prevents others from committing.
    const { ask } = bench.database;
    await bench.run(async () => {
      await ask('BEGIN');
      await ask('SELECT * FROM effect');
      await assert.rejects(bench.book(), /database is locked/);
      await ask('COMMIT');
      await bench.book();
    });
    await bench.is('completed', [1]);
  },
  { ...ON_SQLITE, dataSource: { enableWAL: false, timeout: 10 } },
);

testTypeOrmTransactions(
  'an isolation level that the database does not have is rejected by TypeORM, and has no effect',
  async (bench) => {
    await bench.run(async () => {
      const done = inRunTransaction(() => assert.fail(), { isolationLevel: 'REPEATABLE READ' });
      await assert.rejects(done, /REPEATABLE READ/);
      await bench.book();
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
  ON_SQLITE,
);

void test('sqlite: two databases in memory have the same name, and are still different', async () => {
  const inMemory = { options: { type: 'better-sqlite3', database: ':memory:' } } as const;
  const application = await ledgerDataSource({
    ...inMemory,
    environment: {},
    dispose: () => Promise.resolve(),
  });
  await createEffectTable(application);
  const other = await new DataSource(inMemory.options).initialize();
  const guard = await createJobGuard(application, { pollInterval: false, logger: false });
  try {
    await guard.run(JOB, async () => {
      const elsewhere = other.transaction((manager) => completeRunIn(manager));
      await assert.rejects(elsewhere, /the database of its transaction has no such run/);
      await inRunTransaction((manager) => makeEffect(manager, { periodKey: 'today', attempt: 1 }));
    });
    assert.equal((await effectsIn(application)).length, 1);
    assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
  } finally {
    await guard.close();
    await application.destroy();
    await other.destroy();
  }
});
