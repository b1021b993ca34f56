import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { TypeOrmLockProvider, type TypeOrmLockProviderOptions } from 'cronlatch/typeorm';
import { mysqlDatabase, testOn, type MysqlDatabase } from '../../support/databases';
import { lockRows, migratedDataSource } from '../../support/lock-table';
import { targetOf, tcpProxy, throughProxy } from '../../support/tcp-proxy';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

/** A database with the table and one released lock in it, and a provider at the other end of `url`. */
async function bench(
  options: TypeOrmLockProviderOptions = {},
  urlOf: (database: MysqlDatabase) => string = ({ url }) => url,
) {
  const database = await mysqlDatabase();
  const dataSource = await migratedDataSource(database);
  const provider = new TypeOrmLockProvider(new DataSource({ type: 'mysql', url: urlOf(database) }), options);
  return {
    database,
    dataSource,
    provider,
    dispose: async () => {
      await provider.close();
      await dataSource.destroy();
      await database.dispose();
    },
  };
}

testOn(
  'mysql',
  'a row that a transaction of somebody else has locked is given up by the server before the client',
  async () => {
    const { database, dataSource, provider, dispose } = await bench({ statementTimeout: '2s' });
    await (await provider.lock(JOB))?.unlock();
    await database.root.query('START TRANSACTION');
    await database.root.query(`SELECT * FROM shedlock WHERE name = 'job' FOR UPDATE`);
    await assert.rejects(provider.lock(JOB), {
      code: 'CRONLATCH_STORAGE',
      outcome: 'contention',
      driverCode: 'ER_LOCK_WAIT_TIMEOUT',
    });
    await database.root.query('COMMIT');
    assert.deepEqual(
      (await lockRows(dataSource)).map(({ held }) => held),
      [false],
      'nothing was granted afterwards',
    );
    assert.ok(await provider.lock(JOB));
    await dispose();
  },
);

testOn(
  'mysql',
  'a statement that gets no answer is given up, its connection destroyed, and what became of it is asked for',
  async () => {
    const database = await mysqlDatabase();
    const dataSource = await migratedDataSource(database);
    const proxy = await tcpProxy(targetOf(database.url));
    const provider = new TypeOrmLockProvider(
      new DataSource({ type: 'mysql', url: throughProxy(database.url, proxy) }),
      { statementTimeout: '300ms' },
    );
    try {
      await (await provider.lock(JOB))?.unlock();
      proxy.stall();
      await assert.rejects(
        provider.lock(JOB),
        (error) =>
          error instanceof LockStorageError &&
          error.outcome === 'unknown' &&
          /no answer within 300 ms/.test(error.message),
      );
      proxy.flow();
      const lock = await provider.lock(JOB);
      assert.equal(await lock?.unlock(), true);
    } finally {
      await proxy.close();
      await provider.close();
      await dataSource.destroy();
      await database.dispose();
    }
  },
);

for (const pieces of [0, 1, 2, 3, 4]) {
  testOn(
    'mysql',
    `a connection that goes silent after ${pieces} answers of its opening takes no place for ever`,
    async () => {
      const database = await mysqlDatabase();
      const dataSource = await migratedDataSource(database);
      const proxy = await tcpProxy(targetOf(database.url));
      const url = throughProxy(database.url, proxy);
      const provider = new TypeOrmLockProvider(new DataSource({ type: 'mysql', url }), {
        statementTimeout: '200ms',
      });
      try {
        proxy.stallNewAfter(pieces);
        for (let tick = 0; tick < 3; tick += 1) {
          await assert.rejects(provider.lock(JOB), LockStorageError);
        }
        proxy.flow();
        let lock = await provider.lock(JOB).catch(() => undefined);
        // The last opening that went silent is given up within its own limit.
        for (let tick = 0; tick < 3 && lock === undefined; tick += 1)
          lock = await provider.lock(JOB).catch(() => undefined);
        assert.equal(await lock?.unlock(), true);
      } finally {
        await proxy.close();
        await provider.close();
        await dataSource.destroy();
        await database.dispose();
      }
    },
  );
}

testOn('mysql', 'a grant whose reply was lost on the way is found again on a fresh connection', async () => {
  const database = await mysqlDatabase();
  const dataSource = await migratedDataSource(database);
  const proxy = await tcpProxy(targetOf(database.url));
  const provider = new TypeOrmLockProvider(
    new DataSource({ type: 'mysql', url: throughProxy(database.url, proxy) }),
  );
  try {
    await (await provider.lock(JOB))?.unlock();
    // The statement is sent and waits for a row lock; its connection is cut; then it goes on and takes effect.
    await database.root.query('START TRANSACTION');
    await database.root.query(`SELECT * FROM shedlock WHERE name = 'job' FOR UPDATE`);
    const locking = provider.lock(JOB);
    await waitingStatement(database);
    await proxy.close();
    await database.root.query('COMMIT');
    await proxy.open();
    const lock = await locking.catch((error: unknown) => error);
    const [row] = await lockRows(dataSource);
    // The server may notice the cut before or after the statement: then there is no grant, and an error.
    if (row?.held) assert.equal((lock as { fencingToken: number }).fencingToken, row.token);
    else assert.ok(lock instanceof LockStorageError);
  } finally {
    await proxy.close();
    await provider.close();
    await dataSource.destroy();
    await database.dispose();
  }
});

async function waitingStatement({ root }: MysqlDatabase): Promise<void> {
  for (;;) {
    const [rows] = await root.query(
      `SELECT COUNT(*) AS n FROM performance_schema.data_locks WHERE lock_status = 'WAITING'`,
    );
    if (Number((rows as { n: number }[])[0]?.n) > 0) return;
  }
}

testOn('mysql', 'an idle connection that the server has killed costs nothing but a new one', async () => {
  const { database, provider, dispose } = await bench();
  await (await provider.lock(JOB))?.unlock();
  const [rows] = await database.root.query(
    'SELECT id FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()',
    [database.name],
  );
  for (const { id } of rows as { id: number }[]) await database.root.query(`KILL ${id}`);
  assert.equal(await (await provider.lock(JOB))?.unlock(), true);
  await dispose();
});

testOn(
  'mysql',
  'a connection that was left inside a transaction grants nothing, and is destroyed',
  async () => {
    const database = await mysqlDatabase();
    const dataSource = await migratedDataSource(database, { poolSize: 1 });
    const provider = new TypeOrmLockProvider(dataSource, { connections: 'shared' });
    const leak = dataSource.createQueryRunner();
    await leak.query('START TRANSACTION');
    await leak.release();
    await assert.rejects(provider.lock(JOB), /left inside a transaction, which is rolled back/);
    assert.deepEqual(await lockRows(dataSource), []);
    assert.ok(await provider.lock(JOB));
    await provider.close();
    await dataSource.destroy();
    await database.dispose();
  },
);

testOn('mysql', 'a name that the column is too short for is an error, never a truncated lock', async () => {
  const { dataSource, provider, dispose } = await bench({ nameLength: 255 });
  const name = 'x'.repeat(65);
  await assert.rejects(provider.lock({ ...JOB, name }), {
    code: 'CRONLATCH_SCHEMA_MISMATCH',
    driverCode: 'ER_DATA_TOO_LONG',
  });
  assert.deepEqual(await lockRows(dataSource), []);
  await dispose();
});

testOn('mysql', 'an extension goes before twenty acquisitions that wait for a connection', async () => {
  const { database, provider, dispose } = await bench();
  const held = await provider.lock(JOB);
  await (await provider.lock({ ...JOB, name: 'other' }))?.unlock();
  await database.root.query('START TRANSACTION');
  await database.root.query(`SELECT * FROM shedlock WHERE name = 'other' FOR UPDATE`);
  const waiting = Array.from({ length: 20 }, () => provider.lock({ ...JOB, name: 'other' }));
  assert.equal(await held?.extend('2m'), true);
  await database.root.query('COMMIT');
  const answers = await Promise.all(waiting);
  assert.equal(answers.filter((lock) => lock !== undefined).length, 1);
  await dispose();
});

testOn(
  'mysql',
  'when every connection stays busy, an acquisition is an error within two limits, and blocks nobody for longer',
  async () => {
    const { database, provider, dispose } = await bench({ statementTimeout: '2s' });
    await (await provider.lock(JOB))?.unlock();
    await database.root.query('LOCK TABLES shedlock WRITE');
    const answers = await Promise.allSettled(Array.from({ length: 5 }, () => provider.lock(JOB)));
    await database.root.query('UNLOCK TABLES');
    assert.ok(answers.every(({ status }) => status === 'rejected'));
    // One that had waited long for its connection may be granted to nobody now: its release by owner follows.
    const givenUpAtMs = performance.now() + 4000;
    let lock = await provider.lock(JOB);
    while (lock === undefined && performance.now() < givenUpAtMs) lock = await provider.lock(JOB);
    assert.ok(lock);
    await dispose();
  },
);
