import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { closing } from '../../../support/benches/closing';
import {
  databaseOn,
  testOn,
  testOnEveryServer,
  testOnOwn,
  type Administrator,
  type ServerName,
} from '../../../support/databases/fresh';
import { JavaShedLock } from '../../../support/databases/java-shedlock';
import { shiftBack, nextMillisecond } from '../../../support/databases/lock-table';
import { ownServer } from '../../../support/servers/own';
import { CheckedLockProvider } from '../../../support/stores/checked-lock-provider';

const JOB = { name: 'close-day', lockAtMostFor: '10m' } as const;

interface MixedFleet {
  readonly dataSource: DataSource;
  readonly provider: CheckedLockProvider;
  readonly java: JavaShedLock;
}

/**
 * A table as ShedLock for Java creates it, in a database with the server's default collation, with both
 * libraries connected.
 */
async function withMixedFleet(server: ServerName, body: (fleet: MixedFleet) => Promise<void>): Promise<void> {
  await using database = closing(await databaseOn(server));
  await using dataSource = closing(await new DataSource(database.options).initialize());
  await using provider = closing(new CheckedLockProvider(dataSource, { onWarning: () => {} }));
  const root: Administrator = database.root;
  const java = new JavaShedLock(server, root, 'java-host');
  if (server !== 'postgres') await root.query(`SET time_zone = '+00:00'`);
  await java.createTable();
  await body({ dataSource, provider, java });
}

testOnEveryServer(
  'deleting rows of a table of ShedLock for Java is a warning, which Java would not insert again',
  (server) =>
    withMixedFleet(server, async ({ dataSource }) => {
      for (const keepRows of [true, false]) {
        const warnings: string[] = [];
        const onWarning = (message: string): void => void warnings.push(message);
        await using provider = closing(new CheckedLockProvider(dataSource, { keepRows, onWarning }));
        await provider.check();
        assert.equal(/keepRows is false .+ ShedLock for Java/.test(warnings.join('\n')), !keepRows);
      }
    }),
);

testOnEveryServer('the table of ShedLock for Java is used as it is, without tokens (F-71)', (server) =>
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

testOnEveryServer(
  'a lock that Java holds is refused to cronlatch, and free as soon as Java releases it (F-71)',
  (server) =>
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

testOnEveryServer(
  'a lock that cronlatch holds is refused to Java, and granted to it after lockAtLeastFor (F-71)',
  (server) =>
    withMixedFleet(server, async ({ dataSource, provider, java }) => {
      const lock = await provider.lock({ ...JOB, lockAtLeastFor: '5m' });
      assert.equal(await java.lock(JOB.name, 600_000), false);
      assert.equal(await lock?.extend('10m'), true);
      assert.equal(await lock?.unlock(), true);
      await shiftBack(dataSource, 299_000);
      assert.equal(await java.lock(JOB.name, 600_000), false);
      await shiftBack(dataSource, 1000);
      assert.equal(await java.lock(JOB.name, 600_000), true);
      // The late holder does not change that.
      assert.equal(await lock?.extend('10m'), false);
      assert.equal(await provider.lock(JOB), undefined);
    }),
);

testOn('postgres', 'in sessions of any time zone, that table is used, too', () =>
  withMixedFleet('postgres', async ({ dataSource, provider, java }) => {
    const options = { ...dataSource.options, extra: { options: '-c TimeZone=Pacific/Kiritimati' } };
    await using zoned = closing(new CheckedLockProvider(new DataSource(options), { onWarning: () => {} }));
    const lock = await zoned.lock(JOB);
    assert.ok(lock);
    assert.equal(await provider.lock(JOB), undefined);
    assert.equal(await java.lock(JOB.name, 1000), false);
    assert.equal(await lock.unlock(), true);
    assert.equal(await java.lock(JOB.name, 1000), true);
    assert.equal(await zoned.lock(JOB), undefined);
  }),
);

const SHIFTED = '+05:30';

interface ShiftedFleet {
  readonly dataSource: DataSource;
  /** In the server's zone, as ShedLock's documentation leaves it. */
  readonly java: JavaShedLock;
}

/** Neither side sees the other's locks; a warning reports it, and its remedy repairs it. */
async function warnsAndIsRepaired({ dataSource, java }: ShiftedFleet): Promise<void> {
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  await using provider = closing(new CheckedLockProvider(dataSource, { onWarning }));
  await provider.check();
  const finding = (await provider.verifySchema()).find(({ code }) => code === 'session-time-zone');
  assert.equal(finding?.severity, 'warning');
  assert.deepEqual(warnings.filter((message) => message === finding.message).length, 1);
  assert.match(
    finding.message,
    /If ShedLock for Java uses this table, .*time zone of its sessions to UTC.* Run: ALTER TABLE .*;$/,
  );
  assert.equal(await java.lock(JOB.name, 600_000), true);
  assert.ok(await provider.lock(JOB), 'cronlatch does not see the lock of Java, which the warning is about');

  await java.send(`DELETE FROM shedlock`);
  await java.send(finding.remedy ?? '');
  const repaired = new CheckedLockProvider(dataSource, { onWarning });
  assert.equal(await java.lock(JOB.name, 600_000), true);
  assert.equal(await repaired.lock(JOB), undefined);
  await java.unlock(JOB.name);
  const lock = await repaired.lock(JOB);
  assert.equal(await java.lock(JOB.name, 600_000), false);
  assert.equal(await lock?.unlock(), true);
  await nextMillisecond(dataSource); // Java compares with whole milliseconds.
  assert.equal(await java.lock(JOB.name, 600_000), true);
  const codes = (await repaired.verifySchema()).map(({ code }) => code);
  assert.equal(codes.includes('session-time-zone'), false);
  await repaired.close();
}

for (const type of ['mysql', 'mariadb'] as const) {
  testOnOwn(
    type,
    "Java sessions in a server's own time zone cause a warning with the repair (F-71, F-74)",
    async () => {
      await using server = closing(await ownServer(type));
      await using root = closing(await new DataSource({ type, url: `${server.url}/mysql` }).initialize());
      await root.query('CREATE DATABASE app');
      await root.query(`SET GLOBAL time_zone = '${SHIFTED}'`);
      const dataSource = new DataSource({ type, url: `${server.url}/app` });
      const session = (await dataSource.initialize()).createQueryRunner();
      try {
        const java = new JavaShedLock(type, session, 'java-host');
        await java.createTable();
        await warnsAndIsRepaired({ dataSource, java });
      } finally {
        await session.release();
        await dataSource.destroy();
      }
    },
  );
}

testOn('postgres', 'a table for Java with time zones causes a warning with the repair (F-71)', () =>
  withMixedFleet('postgres', async ({ dataSource, java }) => {
    await java.send(`SET TIME ZONE '${SHIFTED.replace('+', '-')}'`); // In POSIX notation the sign is reversed.
    await java.send(
      'ALTER TABLE shedlock ALTER lock_until TYPE timestamptz, ALTER locked_at TYPE timestamptz',
    );
    await warnsAndIsRepaired({ dataSource, java });
  }),
);
