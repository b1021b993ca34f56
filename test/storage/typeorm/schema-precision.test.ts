import assert from 'node:assert/strict';
import { SettableClock } from 'cronlatch/testing';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { withChangedTable } from '../../support/changed-table';
import {
  mariadbDatabase,
  mysqlDatabase,
  SERVER_NAMES,
  testOn,
  testWith,
  type ServerName,
} from '../../support/databases';
import { lockRows, migratedDataSource } from '../../support/lock-table';
import { providerOnSessionClock } from '../../support/session-clock';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const MINUTE_US = 60_000_000;
const DIGITS = [3, 6];

function withDigits(server: ServerName, digits: number): string[] {
  return ['lock_until', 'locked_at'].map((column) =>
    server === 'postgres'
      ? `ALTER TABLE shedlock ALTER COLUMN ${column} TYPE timestamptz(${digits})`
      : `ALTER TABLE shedlock MODIFY ${column} DATETIME(${digits}) NOT NULL`,
  );
}

for (const server of SERVER_NAMES) {
  for (const digits of DIGITS) {
    testWith(
      server,
      `a released lock is granted again at once, 200 times (${digits} digits) (P4)`,
      async (database) => {
        await withChangedTable(database, withDigits(server, digits), {}, async ({ dataSource, provider }) => {
          const other = new TypeOrmLockProvider(dataSource);
          let refused = 0;
          for (let round = 1; round <= 100; round += 1) {
            for (const each of [provider, other]) {
              const lock = await each.lock(JOB);
              if (lock === undefined) refused += 1;
              else assert.equal(await lock.unlock(), true);
            }
          }
          await other.close();
          assert.equal(refused, 0);
        });
      },
    );

    testWith(
      server,
      `a lease is trusted for as much less as the table cuts off its beginning (${digits} digits) (P2)`,
      async (database) => {
        const clock = new SettableClock();
        await withChangedTable(database, withDigits(server, digits), { clock }, async ({ provider }) => {
          const lock = await provider.lock(JOB);
          assert.equal(lock?.remainingMs(), digits === 6 ? 600_000 : 599_999);
          assert.equal(await lock.extend('1m'), true);
          assert.equal(lock.remainingMs(), digits === 6 ? 60_000 : 59_999);
        });
      },
    );

    testWith(server, `the end of a lease is exact in the table (${digits} digits) (P5)`, async (database) => {
      await withChangedTable(database, withDigits(server, digits), {}, async ({ dataSource, provider }) => {
        const leaseUs = async (): Promise<number> => {
          const [row] = await lockRows(dataSource);
          assert.ok(row);
          return row.lockUntilUs - row.lockedAtUs;
        };
        const lock = await provider.lock({ ...JOB, lockAtLeastFor: '5m' });
        assert.ok(lock);
        assert.equal(await leaseUs(), 10 * MINUTE_US);
        assert.equal(await lock.extend('1m'), true);
        assert.equal(await leaseUs(), 5 * MINUTE_US);
        assert.equal(await lock.unlock(), true);
        assert.equal(await leaseUs(), 5 * MINUTE_US);
      });
    });
  }
}

for (const [server, create] of [
  ['mysql', mysqlDatabase],
  ['mariadb', mariadbDatabase],
] as const) {
  for (const digits of DIGITS) {
    testOn(
      server,
      `a lock is granted at the exact end of its lease, and not a step earlier (${digits} digits) (P4, P5)`,
      async () => {
        const database = await create();
        const dataSource = await migratedDataSource(database, { poolSize: 1 });
        for (const change of withDigits(server, digits)) await dataSource.query(change);
        const provider = providerOnSessionClock(dataSource);
        const startSeconds = 1_800_000_000.123456;
        /** Stops the clock of the session, which the provider uses. */
        const at = async (seconds: number): Promise<void> => {
          await dataSource.query(`SET timestamp = ${(startSeconds + seconds).toFixed(6)}`);
        };
        const step = 10 ** -digits;
        try {
          await at(0);
          const lock = await provider.lock({ ...JOB, lockAtLeastFor: '5m' });
          assert.equal(await lock?.unlock(), true);
          await at(300 - step);
          assert.equal(await provider.lock(JOB), undefined);
          await at(300);
          assert.ok(await provider.lock(JOB));
          await at(900 - step);
          assert.equal(await provider.lock(JOB), undefined);
          await at(900);
          assert.ok(await provider.lock(JOB));
        } finally {
          await provider.close();
          await dataSource.destroy();
          await database.dispose();
        }
      },
    );
  }
}

testWith(
  'sqlite',
  'a lease is trusted for as much less as the clock of SQLite cuts off (P2)',
  async (database) => {
    await withChangedTable(database, [], { clock: new SettableClock() }, async ({ provider }) => {
      assert.equal((await provider.lock(JOB))?.remainingMs(), 599_999);
    });
  },
);
