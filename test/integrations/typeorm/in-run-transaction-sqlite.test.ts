/** Cases for databases in which all transactions of a DataSource share one connection. */
import assert from 'node:assert/strict';
import { inRunTransaction } from 'cronlatch/typeorm';
import { turn } from '../../support/benches/lock';
import { testTypeOrmTransactions } from '../../support/benches/transaction';

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
      // Its oldest version names the levels that there are.
      await assert.rejects(done, /REPEATABLE READ|only supports SERIALIZABLE/);
      await bench.book();
    });
    assert.deepEqual(await bench.effects(), [1]);
  },
  ON_SQLITE,
);
