import assert from 'node:assert/strict';
import { DataSource, type QueryRunner } from 'typeorm';
import { SqlRowLockProvider } from '#cronlatch/storage/sql/row-lock/row-lock-provider';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { JOB, onSending, testRowLocks, type RowLocks } from '../../support/benches/row-locks';
import { eventually } from '../../support/clocks/eventually';

const ROW = `cronlatch_row_lock WHERE name = '${JOB.name}'`;
const SELECT = `SELECT name FROM ${ROW} FOR UPDATE`;
const INSERT = `INSERT INTO cronlatch_row_lock (name, lock_until, locked_at, locked_by)
  VALUES ('${JOB.name}', '2026-01-01', '2026-01-01', '')`;

/** Sessions of an application that locks rows by hand. */
async function withSessions(
  { server, database }: RowLocks,
  body: (first: QueryRunner, second: QueryRunner) => Promise<void>,
): Promise<void> {
  const dataSource = await new DataSource({ type: server, url: database.url }).initialize();
  const [first, second] = [dataSource.createQueryRunner(), dataSource.createQueryRunner()];
  try {
    await body(first, second);
  } finally {
    for (const session of [first, second]) {
      if (session.isTransactionActive) await session.rollbackTransaction();
      await session.release();
    }
    await dataSource.destroy();
  }
}

testRowLocks(
  'by hand, two transactions both lock a row that does not exist; here, one gets the lock',
  async (locks) => {
    await withSessions(locks, async (first, second) => {
      for (const session of [first, second]) {
        await session.startTransaction();
        // No error, so both believe that they hold the lock.
        assert.deepEqual(await session.query(SELECT), []);
      }
    });
    const attempts = await Promise.all([locks.provider().lock(JOB), locks.provider().lock(JOB)]);
    assert.equal(attempts.filter((lock) => lock !== undefined).length, 1);
  },
);

testRowLocks('by hand, a lock in autocommit ends with its statement; here, it lasts', async (locks) => {
  await (await locks.provider().lock(JOB))?.unlock();
  await withSessions(locks, async (first, second) => {
    for (const session of [first, second])
      assert.equal(((await session.query(`${SELECT} NOWAIT`)) as unknown[]).length, 1);
  });
  assert.ok(await locks.provider().lock(JOB));
  assert.equal(await locks.provider().lock(JOB), undefined);
});

testRowLocks(
  'by hand, a failed attempt can leave its transaction open; here, its connection is free',
  async (locks) => {
    const provider = locks.provider({ maxConnections: 2 });
    const held = await locks.provider().lock(JOB);
    await withSessions(locks, async (first) => {
      await first.startTransaction();
      await assert.rejects(first.query(`${SELECT} NOWAIT`));
      assert.equal(first.isTransactionActive, true);
    });
    for (let attempt = 1; attempt <= 5; attempt += 1) assert.equal(await provider.lock(JOB), undefined);
    assert.equal(await held?.unlock(), true);
    assert.ok(await provider.lock({ ...JOB, name: 'other' }));
    assert.ok(await provider.lock(JOB));
  },
);

testRowLocks(
  'by hand, an insert waits for the transaction that has locked its row; here, an attempt does not',
  async (locks) => {
    await locks.provider().lock(JOB);
    await withSessions(locks, async (first) => {
      await first.query('SET SESSION innodb_lock_wait_timeout = 1');
      await assert.rejects(first.query(INSERT), { code: 'ER_LOCK_WAIT_TIMEOUT' });
    });
    const sent: string[] = [];
    const source = new DataSource({ type: locks.server, url: locks.database.url });
    const other = new SqlRowLockProvider(onSending(databaseOf(source), (text) => void sent.push(text)));
    assert.equal(await other.lock(JOB), undefined);
    assert.ok(sent.some((text) => text.includes('NOWAIT')));
    assert.ok(!sent.some((text) => text.includes('INSERT')));
    await other.close();
  },
  ['mysql', 'mariadb'],
);

testRowLocks('after a refusal, no transaction of the provider is open', async (locks) => {
  await locks.provider().lock(JOB);
  const other = locks.provider();
  assert.equal(await other.lock(JOB), undefined);
  const here = `= '${locks.database.name}'`;
  const open = {
    // Its information_schema.innodb_trx fails while any session sends a statement with four-byte text.
    mysql: `SELECT t.thread_id FROM performance_schema.events_transactions_current t
      JOIN performance_schema.threads p ON p.thread_id = t.thread_id
      WHERE p.processlist_db ${here} AND t.state = 'ACTIVE' AND t.autocommit = 'NO'`,
    mariadb: `SELECT t.trx_id FROM information_schema.innodb_trx t JOIN information_schema.processlist p
      ON p.id = t.trx_mysql_thread_id WHERE p.db ${here}`,
    postgres: `SELECT pid FROM pg_stat_activity WHERE datname ${here} AND state = 'idle in transaction'`,
  }[locks.server];
  // Only the holder's. MariaDB refreshes its list a few times a second.
  await eventually(async () => (await locks.database.ask(open)).length === 1, 'one transaction is open');
});
