import assert from 'node:assert/strict';
import { SettableClock } from 'cronlatch/testing';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { closing } from '../../../support/benches/closing';
import { OwnSession } from '../../../support/benches/own-session';
import { withChangedTable, type ChangedTable } from '../../../support/databases/changed-table';
import {
  mariadbDatabase,
  mysqlDatabase,
  SERVER_NAMES,
  testOn,
  testOnEvery,
  testWith,
  type ServerName,
} from '../../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../../support/databases/lock-table';

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

/** A test on each server and for each number of digits. */
function testDigits(
  name: string,
  promise: string,
  body: (bench: ChangedTable, digits: number) => Promise<void>,
  options: { readonly clock?: SettableClock } = {},
): void {
  for (const digits of DIGITS)
    testOnEvery(
      `${name} (${digits} digits) (${promise})`,
      (database, _, server) =>
        withChangedTable(database, withDigits(server, digits), options, (bench) => body(bench, digits)),
      SERVER_NAMES,
    );
}

testDigits('a released lock is granted again at once, 200 times', 'P4', async ({ dataSource, provider }) => {
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

testDigits(
  'a lease is trusted for as much less as the table cuts off its beginning',
  'P2',
  async ({ provider }, digits) => {
    const lock = await provider.lock(JOB);
    assert.equal(lock?.remainingMs(), digits === 6 ? 600_000 : 599_999);
    assert.equal(await lock.extend('1m'), true);
    assert.equal(lock.remainingMs(), digits === 6 ? 60_000 : 59_999);
  },
  { clock: new SettableClock() },
);

testDigits('the end of a lease is exact in the table', 'P5', async ({ dataSource, provider }) => {
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

for (const [server, create] of [
  ['mysql', mysqlDatabase],
  ['mariadb', mariadbDatabase],
] as const) {
  for (const digits of DIGITS) {
    testOn(
      server,
      `a lock is granted at the exact end of its lease, and not a step earlier (${digits} digits) (P4, P5)`,
      async () => {
        await using database = closing(await create());
        await using dataSource = closing(await migratedDataSource(database));
        for (const change of withDigits(server, digits)) await dataSource.query(change);
        await using session = closing(new OwnSession(dataSource));
        const { provider } = session;
        const startSeconds = 1_800_000_000.123456;
        const at = (seconds: number): void => session.stopClockAt(startSeconds + seconds);
        const step = 10 ** -digits;
        at(0);
        const lock = await provider.lock({ ...JOB, lockAtLeastFor: '5m' });
        assert.equal(await lock?.unlock(), true);
        at(300 - step);
        assert.equal(await provider.lock(JOB), undefined);
        at(300);
        assert.ok(await provider.lock(JOB));
        at(900 - step);
        assert.equal(await provider.lock(JOB), undefined);
        at(900);
        assert.ok(await provider.lock(JOB));
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
