import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import type { JobConfiguration } from 'cronlatch';
import { createCronlatchMigration, createJobGuard, TypeOrmLockProvider } from 'cronlatch/typeorm';
import { runningJob } from '../../support/benches/guard';
import {
  databaseOn,
  mariadbDatabase,
  testOn,
  testOnEvery,
  type Administrator,
} from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';
import { ledgerDataSource } from '../../support/databases/run-tables';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const DAILY: JobConfiguration = {
  ...JOB,
  oncePer: { period: () => 'today', timeZone: 'UTC', retry: { maxAttempts: 3, initialDelay: 0 } },
};

testOnEvery('one lock table has one id, regardless of how an instance addresses it', async (database) => {
  const application = await migratedDataSource(database);
  const { type } = application.options;
  const schema =
    { 'better-sqlite3': undefined, postgres: 'public' }[String(type)] ?? application.driver.database;
  const { url = '' } = database.options as { url?: string };
  const localhost = {
    ...database.options,
    url: url.replace('127.0.0.1', 'localhost'),
  } as typeof database.options;
  const providers = [
    new TypeOrmLockProvider(application),
    new TypeOrmLockProvider(application, { connections: 'shared' }),
    new TypeOrmLockProvider(new DataSource(type === 'better-sqlite3' ? database.options : localhost)),
    ...(type === 'better-sqlite3' ? [] : [new TypeOrmLockProvider(application, { schema })]),
  ];
  try {
    for (const provider of providers) await provider.check();
    const [id, ...others] = providers.map((provider) => provider.id);
    assert.ok(id && id.length < 64, id);
    assert.deepEqual(
      others,
      others.map(() => id),
    );
    const another = createCronlatchMigration({ tables: ['lock'], lockTable: 'another' });
    const runner = application.createQueryRunner();
    await new another().up(runner);
    await runner.release();
    const other = new TypeOrmLockProvider(application, { lockTable: 'another' });
    providers.push(other);
    await other.check();
    assert.notEqual(other.id, id);
  } finally {
    for (const provider of providers) await provider.close();
    await application.destroy();
  }
});

// Two servers with the same names of dialect, database and table.
testOn('mysql', 'a live run is not taken over under a lock of another server (L2, F-76)', async () => {
  const ledger = await databaseOn('mysql');
  const elsewhere = await mariadbDatabase();
  const root: Administrator = elsewhere.root;
  await root.query(`CREATE DATABASE ${ledger.name}`);
  const application = await ledgerDataSource(ledger);
  const url = elsewhere.url.replace(elsewhere.name, ledger.name);
  const moved = await migratedDataSource({ ...elsewhere, options: { type: 'mariadb', url } });
  const lockProvider = new TypeOrmLockProvider(moved);
  const options = { logger: false, pollInterval: false } as const;
  const [before, after] = [
    await createJobGuard(application, options),
    await createJobGuard(application, { ...options, lockProvider }),
  ];
  try {
    const job = await runningJob(before, DAILY);
    const result = await after.run(DAILY, () => 'twice');
    assert.deepEqual([result.executed, 'reason' in result && result.reason], [false, 'running-elsewhere']);
    job.finish('once');
    assert.deepEqual(await job.result, { executed: true, value: 'once' });
  } finally {
    await Promise.all([before.close({ timeout: 0 }), after.close({ timeout: 0 })]);
    await lockProvider.close();
    await application.destroy();
    await moved.destroy();
    await root.query(`DROP DATABASE ${ledger.name}`);
    await elsewhere.dispose();
    await ledger.dispose();
  }
});

testOn('postgres', "a role that may not read the server's identifier can also use locks", async () => {
  const database = await databaseOn('postgres');
  const application = await migratedDataSource(database);
  const role = `${database.name}_role`;
  const { root }: { root: Administrator } = database;
  await root.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await root.query(`GRANT SELECT, INSERT, UPDATE ON shedlock TO ${role}`);
  await root.query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
  const url = new URL(database.url);
  [url.username, url.password] = [role, 'secret'];
  const provider = new TypeOrmLockProvider(new DataSource({ type: 'postgres', url: url.href }));
  try {
    assert.equal(await (await provider.lock(JOB))?.unlock(), true);
    assert.equal(provider.id, `postgres:${database.name}:shedlock`);
  } finally {
    await provider.close();
    await application.destroy();
    await root.query(`DROP OWNED BY ${role}`);
    await root.query(`DROP ROLE ${role}`);
    await database.dispose();
  }
});
