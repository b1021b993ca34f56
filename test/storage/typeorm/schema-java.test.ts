import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { SchemaMismatchError } from 'cronlatch';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import {
  databaseOn,
  SERVER_NAMES,
  testOn,
  type Administrator,
  type ServerName,
} from '../../support/databases';
import { JavaShedLock } from '../../support/java-shedlock';
import { shiftBack } from '../../support/lock-table';

const JOB = { name: 'close-day', lockAtMostFor: '10m' } as const;

interface MixedFleet {
  readonly dataSource: DataSource;
  readonly provider: TypeOrmLockProvider;
  readonly java: JavaShedLock;
}

/** The table as ShedLock for Java has it made, in a database whose collation is the server's own, and both at it. */
async function withMixedFleet(server: ServerName, body: (fleet: MixedFleet) => Promise<void>): Promise<void> {
  const database = await databaseOn(server);
  const dataSource = await new DataSource(database.options).initialize();
  const provider = new TypeOrmLockProvider(dataSource, { onWarning: () => {} });
  const root: Administrator = database.root;
  const java = new JavaShedLock(server, root, 'java-host');
  try {
    if (server !== 'postgres') await root.query(`SET time_zone = '+00:00'`);
    await java.createTable();
    await body({ dataSource, provider, java });
  } finally {
    await provider.close();
    await dataSource.destroy();
    await database.dispose();
  }
}

for (const server of SERVER_NAMES) {
  testOn(server, 'F-71 the table of ShedLock for Java is used as it is, without tokens', () =>
    withMixedFleet(server, async ({ dataSource, provider }) => {
      const findings = await provider.verifySchema();
      assert.deepEqual(
        findings.map(({ severity, code }) => `${severity}: ${code}`),
        [...(server === 'postgres' ? [] : ['warning: inexact-names']), 'warning: no-fencing-token'],
      );

      const lock = await provider.lock(JOB);
      assert.ok(lock);
      assert.equal(lock.fencingToken, undefined);
      assert.equal(await provider.lock(JOB), undefined);
      assert.equal(await lock.extend('20m'), true);
      await shiftBack(dataSource, 19 * 60_000);
      assert.equal(await provider.lock(JOB), undefined);
      assert.equal(await lock.unlock(), true);

      const kept = await provider.lock({ ...JOB, lockAtLeastFor: '5m' });
      assert.equal(await kept?.unlock(), true);
      await shiftBack(dataSource, 4 * 60_000);
      assert.equal(await provider.lock(JOB), undefined);
      await shiftBack(dataSource, 60_000);
      const crashed = await provider.lock(JOB);
      assert.ok(crashed);

      await shiftBack(dataSource, 10 * 60_000);
      assert.ok(await provider.lock(JOB));
      assert.equal(await crashed.extend('10m'), false);
    }),
  );

  testOn(server, 'F-71 a lock that Java holds is refused here, and free as soon as Java lets go', () =>
    withMixedFleet(server, async ({ dataSource, provider, java }) => {
      for (let round = 1; round <= 20; round += 1) {
        assert.equal(await java.lock(JOB.name, 600_000), true);
        assert.equal(await provider.lock(JOB), undefined);
        await java.unlock(JOB.name);
        const lock = await provider.lock(JOB);
        assert.ok(lock, `round ${round}`);
        assert.equal(await java.lock(JOB.name, 600_000), false);
        assert.equal(await lock.unlock(), true);
      }
      assert.equal(await java.lock(JOB.name, 600_000), true);
      await shiftBack(dataSource, 599_000);
      assert.equal(await provider.lock(JOB), undefined);
      await shiftBack(dataSource, 1000);
      assert.ok(await provider.lock(JOB), 'Java has crashed');
    }),
  );

  testOn(
    server,
    'F-71 a lock that is held here is refused to Java, which gets it when its time has come',
    () =>
      withMixedFleet(server, async ({ dataSource, provider, java }) => {
        const lock = await provider.lock({ ...JOB, lockAtLeastFor: '5m' });
        assert.equal(await java.lock(JOB.name, 600_000), false);
        assert.equal(await lock?.extend('10m'), true);
        assert.equal(await lock?.unlock(), true);
        await shiftBack(dataSource, 299_000);
        assert.equal(await java.lock(JOB.name, 600_000), false);
        await shiftBack(dataSource, 1000);
        assert.equal(await java.lock(JOB.name, 600_000), true);
        // Whoever was here before changes nothing of that.
        assert.equal(await lock?.extend('10m'), false);
        assert.equal(await provider.lock(JOB), undefined);
      }),
  );
}

for (const server of ['mysql', 'mariadb'] as const) {
  testOn(server, 'in sessions of the application, whose zone it does not know, that table is refused', () =>
    withMixedFleet(server, async ({ dataSource }) => {
      const shared = new TypeOrmLockProvider(dataSource, { connections: 'shared' });
      await assert.rejects(shared.lock(JOB), (error) => {
        return error instanceof SchemaMismatchError && error.message.includes(`Leave connections at 'own'`);
      });
    }),
  );
}

testOn('postgres', 'in sessions of the application, whatever their zone, that table is used, too', () =>
  withMixedFleet('postgres', async ({ dataSource, provider, java }) => {
    const options = { ...dataSource.options, extra: { options: '-c TimeZone=Pacific/Kiritimati' } };
    const application = await new DataSource(options).initialize();
    const shared = new TypeOrmLockProvider(application, { connections: 'shared', onWarning: () => {} });
    const lock = await shared.lock(JOB);
    assert.ok(lock);
    assert.equal(await provider.lock(JOB), undefined);
    assert.equal(await java.lock(JOB.name, 1000), false);
    assert.equal(await lock.unlock(), true);
    assert.equal(await java.lock(JOB.name, 1000), true);
    assert.equal(await shared.lock(JOB), undefined);
    await application.destroy();
  }),
);
