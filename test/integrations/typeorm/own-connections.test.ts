import assert from 'node:assert/strict';
import { DataSource, EntitySchema } from 'typeorm';
import { createJobGuard } from 'cronlatch/typeorm';
import { mysqlDatabase, testOn } from '../../support/databases';
import { loggedUser } from '../../support/general-log';
import { lockRows, migratedDataSource } from '../../support/lock-table';

testOn(
  'mysql',
  'a DataSource that drops and synchronizes its schema lends its address, never its habits',
  async () => {
    const database = await mysqlDatabase();
    const keeper = await migratedDataSource(database);
    await keeper.query('CREATE TABLE payroll (id INT PRIMARY KEY)');
    await keeper.query('INSERT INTO payroll VALUES (1), (2)');
    await keeper.query(
      `INSERT INTO shedlock VALUES ('old', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'somebody', 7)`,
    );
    const log = await loggedUser(database);
    const payroll = new EntitySchema({
      name: 'Payroll',
      tableName: 'payroll',
      columns: { id: { type: Number, primary: true } },
    });
    const dangerous = new DataSource({
      ...{
        type: 'mysql',
        url: log.url,
        entities: [payroll],
        dropSchema: true,
        synchronize: true,
        migrationsRun: true,
      },
      ...{
        migrations: [],
        logging: true,
        cache: true,
        extra: { connectionLimit: 50, multipleStatements: true },
      },
    });
    const guard = await createJobGuard(dangerous);
    try {
      assert.equal((await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => {})).executed, true);
      assert.deepEqual(await keeper.query('SELECT id FROM payroll ORDER BY id'), [{ id: 1 }, { id: 2 }]);
      assert.deepEqual(
        (await lockRows(keeper)).map(({ name }) => name),
        ['job', 'old'],
      );
      const statements = await log.statements();
      assert.ok(statements.length >= 7);
      assert.deepEqual(
        statements.filter((text) => /\b(DROP|CREATE|ALTER|TRUNCATE|RENAME|DELETE)\b/i.test(text)),
        [],
      );
      assert.equal(dangerous.isInitialized, false);
    } finally {
      await guard.close();
      await keeper.destroy();
      await log.dispose();
      await database.dispose();
    }
  },
);

testOn(
  'mysql',
  'five jobs that hold the only connection of the application in turn, for three leases each, all finish',
  async () => {
    const database = await mysqlDatabase();
    const dataSource = await migratedDataSource(database, { poolSize: 1 });
    await dataSource.query('CREATE TABLE effects (job VARCHAR(10) PRIMARY KEY)');
    const guard = await createJobGuard(dataSource, { logger: console });
    const lost: string[] = [];
    guard.on('lock:lost', ({ name }) => void lost.push(name));
    const job = (name: string) =>
      guard.run({ name, lockAtMostFor: '1s', keepAlive: true }, async ({ signal }) => {
        await dataSource.transaction(async (manager) => {
          await manager.query('INSERT INTO effects VALUES (?)', [name]);
          // Three leases long, on the application's own connection.
          await manager.query('SELECT SLEEP(3)');
        });
        signal.throwIfAborted();
        return 'finished';
      });
    try {
      const results = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(job));
      assert.deepEqual(
        results.map((result) => result.executed && result.value),
        Array(5).fill('finished'),
      );
      assert.deepEqual(lost, []);
      assert.deepEqual(
        (await lockRows(dataSource)).map(({ held }) => held),
        Array(5).fill(false),
      );
    } finally {
      await guard.close();
      await dataSource.destroy();
      await database.dispose();
    }
  },
);

for (const connections of ['own', 'shared'] as const) {
  testOn(
    'mysql',
    `P8 a transaction of the application that rolls back takes no lock row with it (${connections} connections)`,
    async () => {
      const database = await mysqlDatabase();
      const dataSource = await migratedDataSource(database);
      const guard = await createJobGuard(dataSource, { connections });
      try {
        const rolledBack = dataSource.transaction(async (manager) => {
          await manager.query(
            `INSERT INTO shedlock VALUES ('in-transaction', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'app', 1)`,
          );
          const { executed } = await guard.run(
            { name: 'job', lockAtMostFor: '1m', lockAtLeastFor: '1m' },
            () => {},
          );
          assert.equal(executed, true);
          throw new Error('roll back');
        });
        await assert.rejects(rolledBack, { message: 'roll back' });
        assert.deepEqual(
          (await lockRows(dataSource)).map(({ name, held }) => [name, held]),
          [['job', true]],
        );
      } finally {
        await guard.close();
        await dataSource.destroy();
        await database.dispose();
      }
    },
  );
}

testOn('mysql', 'two connections a process, and none after close', async () => {
  const database = await mysqlDatabase();
  const dataSource = await migratedDataSource(database);
  const log = await loggedUser(database);
  const guard = await createJobGuard(new DataSource({ type: 'mysql', url: log.url, poolSize: 10 }));
  const connections = async (): Promise<number> => {
    const [rows] = await database.root.query(
      `SELECT COUNT(*) AS n FROM information_schema.processlist WHERE user = ?`,
      [new URL(log.url).username],
    );
    return Number((rows as { n: number }[])[0]?.n);
  };
  try {
    const names = Array.from({ length: 20 }, (_, i) => `job-${i}`);
    await Promise.all(
      names.map((name) => guard.run({ name, lockAtMostFor: '1m' }, (lock) => lock.extend('2m'))),
    );
    assert.equal(await connections(), 2);
    await guard.close();
    // COM_QUIT has been sent; the server takes a connection off its list a moment later.
    while ((await connections()) > 0);
  } finally {
    await guard.close();
    await dataSource.destroy();
    await log.dispose();
    await database.dispose();
  }
});
