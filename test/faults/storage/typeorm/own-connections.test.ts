import assert from 'node:assert/strict';
import { EntitySchema } from 'typeorm';
import { createJobGuard } from 'cronlatch/typeorm';
import { testOnServers } from '../../../support/benches/server';
import { lockRows } from '../../../support/databases/lock-table';
import { statementLog } from '../../../support/databases/statement-log';

testOnServers(
  'the library takes only the address of a DataSource that drops and synchronizes its schema',
  async (bench) => {
    const { application } = bench;
    await application.query('CREATE TABLE payroll (id INTEGER PRIMARY KEY)');
    await application.query('INSERT INTO payroll VALUES (1), (2)');
    await (await bench.provider().lock({ name: 'old', lockAtMostFor: '1m' }))?.unlock();
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const columns = { id: { type: Number, primary: true } } as const;
    const payroll = new EntitySchema({ name: 'Payroll', tableName: 'payroll', columns });
    const dangerous = bench.dataSource({
      ...{ url: log.url, entities: [payroll], migrations: [], logging: true, cache: true },
      ...{ dropSchema: true, synchronize: true, migrationsRun: true },
      extra: { connectionLimit: 50, max: 50, multipleStatements: true },
    });
    const guard = bench.closeAtEnd(await createJobGuard(dangerous));
    assert.equal((await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => {})).executed, true);
    assert.deepEqual(await application.query('SELECT id FROM payroll ORDER BY id'), [{ id: 1 }, { id: 2 }]);
    const names = (await lockRows(application)).map(({ name }) => name);
    assert.deepEqual(names, ['job', 'old']);
    const statements = log.statements();
    assert.ok(statements.length >= 4);
    const changes = statements.filter((text) => /\b(DROP|CREATE|ALTER|TRUNCATE|RENAME|DELETE)\b/i.test(text));
    assert.deepEqual(changes, []);
    assert.equal(dangerous.isInitialized, false);
  },
);

const SLEEP = {
  mysql: 'SELECT SLEEP(1.5)',
  mariadb: 'SELECT SLEEP(1.5)',
  postgres: 'SELECT pg_sleep(1.5)',
};

testOnServers(
  "five jobs that each hold the application's only connection for longer than a lease all finish (F-44)",
  async (bench) => {
    const dataSource = await bench.connected({ poolSize: 1 });
    await dataSource.query('CREATE TABLE effects (job VARCHAR(10) PRIMARY KEY)');
    const guard = bench.closeAtEnd(await createJobGuard(dataSource, { logger: console }));
    const lost: string[] = [];
    guard.on('lock:lost', ({ name }) => void lost.push(name));
    const job = (name: string) =>
      guard.run({ name, lockAtMostFor: '1s', keepAlive: true }, async ({ signal }) => {
        await dataSource.transaction(async (manager) => {
          await manager.query(`INSERT INTO effects VALUES ('${name}')`);
          await manager.query(SLEEP[bench.server]);
        });
        signal.throwIfAborted();
        return 'finished';
      });
    const results = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(job));
    assert.deepEqual(
      results.map((result) => result.executed && result.value),
      Array(5).fill('finished'),
    );
    assert.deepEqual(lost, []);
    const held = (await lockRows(dataSource)).map((row) => row.held);
    assert.deepEqual(held, Array(5).fill(false));
  },
);
