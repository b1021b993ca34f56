import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import { DataSource } from 'typeorm';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { testOnOwn } from '../../support/databases';
import { lockRows, migratedDataSource } from '../../support/lock-table';
import { ownServer } from '../../support/own-server';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

async function bench() {
  const server = await ownServer('mysql');
  const root = await createConnection({ uri: server.url });
  await root.query('CREATE DATABASE app');
  await root.end();
  const options = { type: 'mysql', url: `${server.url}/app` } as const;
  const dataSource = await migratedDataSource({ options, environment: {}, dispose: () => Promise.resolve() });
  const guard = await createJobGuard(new DataSource(options), { logger: false, statementTimeout: '2s' });
  return { server, dataSource, guard };
}

testOnOwn(
  'mysql',
  'a server that is killed and comes back costs the ticks in between, and no restart of the application',
  async () => {
    const { server, dataSource, guard } = await bench();
    try {
      const tick = guard.wrap(JOB, () => 'ran');
      assert.equal(await tick(), 'ran');
      await server.kill();
      const failed: LockStorageError[] = [];
      guard.on('lock:failed', ({ error }) => void failed.push(error as LockStorageError));
      assert.equal(await tick(), undefined);
      assert.ok(failed[0] instanceof LockStorageError);
      await server.restart();
      assert.equal(await tick(), 'ran');
      const [row] = await lockRows(dataSource);
      assert.equal(row?.held, false);
    } finally {
      await guard.close();
      await dataSource.destroy();
      await server.stop();
    }
  },
);

testOnOwn(
  'mysql',
  'a job that outlasts a restart of the server keeps its lease, and releases it',
  async () => {
    const { server, dataSource, guard } = await bench();
    // The library's own timers keep no process alive, and while the server is away nothing else does.
    const alive = setInterval(() => {}, 60_000);
    try {
      const warnings: string[] = [];
      guard.on('guard:warning', ({ message }) => void warnings.push(message));
      const result = await guard.run(
        { ...JOB, lockAtMostFor: '30s', keepAlive: '500ms' },
        async ({ signal }) => {
          const failed = new Promise<void>((resolve) => guard.on('guard:warning', () => resolve()));
          await server.kill();
          await failed;
          const renewed = new Promise<void>((resolve) => guard.on('lock:extended', () => resolve()));
          await server.restart();
          await renewed;
          return signal.aborted;
        },
      );
      assert.deepEqual(result, { executed: true, value: false });
      assert.match(warnings[0] ?? '', /'job' could not be renewed/);
      assert.deepEqual(
        (await lockRows(dataSource)).map(({ held }) => held),
        [false],
      );
    } finally {
      clearInterval(alive);
      await guard.close();
      await dataSource.destroy();
      await server.stop();
    }
  },
);

testOnOwn(
  'mysql',
  'a server that has become read-only is an error that says so, until it is the primary again',
  async () => {
    const { server, dataSource, guard } = await bench();
    try {
      assert.equal((await guard.run(JOB, () => {})).executed, true);
      await dataSource.query('SET GLOBAL super_read_only = ON');
      await assert.rejects(
        guard.run(JOB, () => assert.fail('ran')),
        (error) =>
          error instanceof LockStorageError &&
          error.outcome === 'nothing-ran' &&
          /it is not the primary/.test(error.message),
      );
      await dataSource.query('SET GLOBAL super_read_only = OFF');
      await dataSource.query('SET GLOBAL read_only = OFF');
      assert.equal((await guard.run(JOB, () => {})).executed, true);
    } finally {
      await guard.close();
      await dataSource.destroy();
      await server.stop();
    }
  },
);
