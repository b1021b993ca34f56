import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { LockStorageError, type Lock, type LockConfiguration } from 'cronlatch';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { closing } from '../../../support/benches/closing';
import { JOB } from '../../../support/benches/lock';
import { OwnSession } from '../../../support/benches/own-session';
import { OwnServerBench } from '../../../support/benches/own-server';
import { eventually } from '../../../support/clocks/eventually';
import { testWithFakedClock } from '../../../support/clocks/faked';
import { testWith } from '../../../support/databases/fresh';
import { JavaShedLock } from '../../../support/databases/java-shedlock';
import { databaseNowUs, migratedDataSource } from '../../../support/databases/lock-table';
import { runningServer } from '../../../support/servers/running';

interface Scene {
  readonly application: DataSource;
  readonly provider: TypeOrmLockProvider;
  /** Another instance. */
  readonly other: TypeOrmLockProvider;
  /** Sets the server's clock. */
  readonly set: (shown: string) => void;
}

type Case = (scene: Scene) => Promise<void>;

/** One server of its own for all cases, each with an empty table. */
function testServerClock(server: 'mariadb' | 'postgres', cases: Readonly<Record<string, Case>>): void {
  // Other tests report a server that is missing or not their own.
  if ((runningServer(server)?.origin ?? 'environment') === 'environment') return;
  testWithFakedClock(`${server}: a server whose clock is set`, async (clock, t) => {
    await using bench = closing(await clock.during(() => OwnServerBench.on(server)));
    const { application } = bench;
    for (const [name, body] of Object.entries(cases)) {
      clock.set('+0');
      await application.query('DELETE FROM shedlock');
      const set = (shown: string): void => clock.set(shown);
      await t.test(name, async () => {
        await using provider = closing(new TypeOrmLockProvider(application));
        await using other = closing(new TypeOrmLockProvider(application));
        await body({ provider, other, application, set });
      });
    }
  });
}

/**
 * Under libfaketime the threads of MySQL wait for one another; but the clock of a session can be set, and
 * then stands still.
 */
function testSessionClock(cases: Readonly<Record<string, Case>>): void {
  for (const [name, body] of Object.entries(cases)) {
    testWith('mysql', `a session whose clock is set: ${name}`, async (database) => {
      await using application = closing(await migratedDataSource(database, { poolSize: 1 }));
      await using one = closing(new OwnSession(application));
      await using another = closing(new OwnSession(application));
      const pending: Promise<unknown>[] = [];
      const set = (shown: string): void => {
        const seconds = secondsShown(shown);
        for (const session of [one, another]) session.stopClockAt(seconds);
        // It has one connection, on which statements keep their order.
        pending.push(application.query(`SET timestamp = ${seconds}`));
      };
      await body({ provider: one.provider, other: another.provider, application, set });
      await Promise.all(pending);
    });
  }
}

function secondsShown(shown: string): number {
  if (shown.startsWith('@')) return Date.parse(utcOf(shown)) / 1000;
  const unit = { m: 60, h: 3600 }[shown.slice(-1)] ?? 1;
  return Math.floor(Date.now() / 1000) + Number.parseInt(shown) * unit;
}

async function granted(provider: TypeOrmLockProvider, configuration: LockConfiguration = JOB): Promise<Lock> {
  const lock = await provider.lock(configuration);
  assert.ok(lock);
  return lock;
}

async function keepsYear({ application, provider, other, set }: Scene, shown: string): Promise<void> {
  const year = { name: 'job', lockAtMostFor: '365d' } as const;
  set(shown);
  const lock = await granted(provider, year);
  assert.ok(Math.abs((await databaseNowUs(application)) / 1000 - Date.parse(utcOf(shown))) < 60_000, shown);
  assert.equal(await other.lock(year), undefined, shown);
  assert.equal(await lock.extend('365d'), true, shown);
  assert.equal(await lock.unlock(), true, shown);
}

function utcOf(shown: string): string {
  return `${shown.slice(1).replace(' ', 'T')}Z`;
}

/** Cases that also work with a clock that stands still. */
const CASES: Readonly<Record<string, Case>> = {
  async 'after its clock is set forward leases expire early: the next token is higher, and the holder notices (F-22)'({
    provider,
    other,
    set,
  }) {
    const first = await granted(provider);
    set('+5m');
    assert.equal(await other.lock(JOB), undefined);
    set('+11m');
    const second = await granted(other);
    assert.ok(second.fencingToken! > first.fencingToken!);
    assert.equal(first.signal.aborted, false, 'its own clocks show that it still has the lease');
    assert.equal(await first.extend('10m'), false);
    assert.equal(first.signal.aborted, true);
    assert.equal(await second.unlock(), true);
  },

  async 'after its clock is set back leases only get longer, and tokens still rise (F-23)'({
    provider,
    other,
    set,
  }) {
    const first = await granted(provider, { ...JOB, lockAtLeastFor: '1s' });
    set('-1h');
    const warnings: string[] = [];
    for (let attempts = 0; attempts < 2; attempts += 1)
      assert.equal(await other.lock(JOB, { warning: (message) => void warnings.push(message) }), undefined);
    assert.deepEqual(
      warnings.map((text) => text.slice(0, 67)),
      ["Lock 'job' was granted at a time that its store has not reached yet"],
    );
    assert.equal(await first.unlock(), true);
    assert.equal(await other.lock(JOB), undefined, 'it was granted at a time in the future');
    const { lockedBy = '' } = (await other.inspect('job')) ?? {};
    assert.equal(await other.forceRelease('job', lockedBy), true);
    const second = await granted(other);
    assert.equal(second.fencingToken, first.fencingToken! + 1, 'it cannot be derived from the time');
    set('-2h');
    assert.equal(await second.unlock(), true);
    const next = await granted(other);
    assert.equal(next.fencingToken, second.fencingToken + 1, 'without lockAtLeastFor, it is free at once');
    assert.equal(await next.unlock(), true);
    set('+0');
    const third = await granted(provider);
    assert.ok(third.fencingToken! > next.fencingToken);
  },

  async 'a lease may end after the end of 32-bit time (F-26)'(scene) {
    await keepsYear(scene, '@2038-01-19 03:13:00');
  },
};

const WHILE_IT_RUNS: Readonly<Record<string, Case>> = {
  async 'a second that its clock skips or repeats ends no lease, and tokens rise (F-24)'({
    provider,
    other,
    set,
  }) {
    let token = 0;
    for (const shown of ['+1', '+0', '-1', '+0']) {
      let lock: Lock | undefined;
      // A lock released in a second that the clock repeats is free when the clock has passed its release.
      await eventually(
        async () => (lock = await provider.lock(JOB)) !== undefined,
        `a grant before ${shown}`,
      );
      assert.ok(lock?.fencingToken !== undefined && lock.fencingToken > token);
      token = lock.fencingToken;
      set(shown);
      assert.equal(await other.lock(JOB), undefined, shown);
      assert.equal(lock.signal.aborted, false);
      assert.equal(await lock.extend('10m'), true);
      assert.equal(await lock.unlock(), true);
    }
  },
};

const OF_POSTGRES: Readonly<Record<string, Case>> = {
  async 'after the end of 32-bit time locks work as before (F-26)'(scene) {
    for (const shown of ['@2038-01-19 03:15:00', '@2040-02-29 12:00:00']) await keepsYear(scene, shown);
  },
};

const OF_MARIADB: Readonly<Record<string, Case>> = {
  async 'a lock that would outlast the columns of ShedLock for Java is an error, and is not held (F-26)'({
    application,
    set,
  }) {
    set('@2037-06-01 00:00:00');
    await application.query('DROP TABLE shedlock');
    await new JavaShedLock('mariadb', application, 'java-host').createTable();
    await using fresh = closing(new TypeOrmLockProvider(application, { onWarning: () => {} }));
    await assert.rejects(fresh.lock({ name: 'job', lockAtMostFor: '365d' }), LockStorageError);
    const lock = await granted(fresh, { name: 'job', lockAtMostFor: '30d' });
    assert.equal(await lock.unlock(), true);
  },
};

testSessionClock(CASES);
testServerClock('mariadb', { ...CASES, ...WHILE_IT_RUNS, ...OF_MARIADB });
// MariaDB and MySQL shut down when their clock reaches that time.
testServerClock('postgres', { ...CASES, ...WHILE_IT_RUNS, ...OF_POSTGRES });
