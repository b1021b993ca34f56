import assert from 'node:assert/strict';
import { Child } from '../../processes/child';
import { LOS_ANGELES } from '../../processes/surroundings';
import type { ZonedReport, ZonedSettings } from '../../processes/fixtures/zoned-application';
import { closing } from '../../support/benches/closing';
import { OwnSession } from '../../support/benches/own-session';
import { databaseOn, SERVER_NAMES, testOnEvery, testOnOwn } from '../../support/databases/fresh';
import { lockRows, migratedDataSource, databaseNowUs } from '../../support/databases/lock-table';
import { testOnServer, testOnServers } from '../../support/benches/server';
import { createRunTables } from '../../support/databases/run-tables';
import { CLAIM, LIMIT, RUNNING } from '../../support/jobs/runs';

const KIRITIMATI_MINUTES = 14 * 60;
const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const LEASE_US = 600_000_000;

// SQLite has no sessions, and so no zones.
for (const sessionZone of [undefined, LOS_ANGELES]) {
  const zones = ['Pacific/Kiritimati', sessionZone?.name].filter(Boolean).join(' and ');
  testOnEvery(
    `the time zones of process and session do not affect a lock (${zones}) (F-27)`,
    async (database) => {
      const dataSource = await migratedDataSource(database);
      await dataSource.destroy();
      await using child = closing(
        new Child<ZonedReport>('zoned-application.js', {
          argument: { options: database.options, sessionZone } satisfies ZonedSettings,
          environment: { TZ: 'Pacific/Kiritimati' },
        }),
      );
      const { offsetMinutes, beforeUs, lockedAtUs, afterUs, lockUntilUs, ...report } =
        await child.received('report');
      assert.equal(offsetMinutes, KIRITIMATI_MINUTES);
      assert.ok(beforeUs <= lockedAtUs && lockedAtUs <= afterUs, 'now is the database’s, in UTC');
      assert.equal(lockUntilUs - lockedAtUs, LEASE_US);
      const heldUntil = new Date(lockUntilUs / 1000).toISOString();
      assert.deepEqual(report, {
        event: 'report',
        heldUntil,
        grantedAfter5: false,
        grantedAfter11: true,
      });
    },
    sessionZone === undefined ? ['sqlite'] : SERVER_NAMES,
  );
}

for (const server of ['mysql', 'mariadb'] as const) {
  for (const dates of [{ dateStrings: true }, { timezone: 'local' }, { timezone: '-11:30' }]) {
    testOnServer(
      server,
      `nor do the driver’s date options (${JSON.stringify(dates)}) (F-27)`,
      async (bench) => {
        const application = await bench.connected(dates);
        const [holder, other] = [bench.provider({}, application), bench.provider({}, application)];
        const lock = await holder.lock(JOB);
        assert.equal(await other.lock(JOB), undefined);
        const [row] = await lockRows(application);
        assert.equal(row && row.lockUntilUs - row.lockedAtUs, LEASE_US);
        let heldUntilMs: number | undefined;
        await holder.lock(JOB, { refused: (held) => (heldUntilMs = held.heldUntil.getTime()) });
        assert.equal(heldUntilMs, row && Math.floor(row.lockUntilUs / 1000));
        assert.equal(await lock?.unlock(), true);
      },
    );
  }
}

/**
 * Central European Time, which these servers do not know by default: ids, offsets and the changes of a winter
 * and a summer.
 */
const CENTRAL_EUROPE = [
  `REPLACE INTO mysql.time_zone VALUES (7001, 'N')`,
  `REPLACE INTO mysql.time_zone_name VALUES ('Cronlatch/Central_Europe', 7001)`,
  `REPLACE INTO mysql.time_zone_transition_type VALUES (7001, 0, 3600, 0, 'CET'), (7001, 1, 7200, 1, 'CEST')`,
  `REPLACE INTO mysql.time_zone_transition VALUES (7001, ${seconds('2026-10-25T01:00Z')}, 0),
     (7001, ${seconds('2027-03-28T01:00Z')}, 1), (7001, ${seconds('2027-10-31T01:00Z')}, 0)`,
];

function seconds(instant: string): number {
  return Date.parse(instant) / 1000;
}

for (const server of ['mysql', 'mariadb'] as const) {
  testOnOwn(
    server,
    'in the hours that daylight saving skips or repeats, a lease of ten minutes lasts ten minutes (F-21)',
    async () => {
      await using database = closing(await databaseOn(server));
      for (const statement of CENTRAL_EUROPE) await database.root.query(statement);
      await using dataSource = closing(await migratedDataSource(database));
      await using session = closing(new OwnSession(dataSource));
      const { provider } = session;
      /** @returns the hours that the zone of the session is ahead of UTC */
      const at = async (instant: string, minutes = 0): Promise<number> => {
        session.stopClockAt(seconds(instant) + minutes * 60);
        const [row] = await session.query<{ ahead: unknown }>(
          'SELECT TIMESTAMPDIFF(HOUR, UTC_TIMESTAMP(), NOW()) AS ahead',
        );
        return Number(row?.ahead);
      };
      await session.query(`SET time_zone = 'Cronlatch/Central_Europe'`);
      assert.deepEqual([await at('2027-03-28T00:59Z'), await at('2027-03-28T01:00Z')], [1, 2]);
      assert.deepEqual([await at('2027-10-31T00:59Z'), await at('2027-10-31T01:00Z')], [2, 1]);
      for (const instant of [
        '2027-03-28T00:55Z', // The clocks go forward while the lock is held.
        '2027-03-28T02:25Z', // UTC shows a time that the zone has skipped.
        '2027-10-31T00:55Z', // The clocks go back while the lock is held.
        '2027-10-31T01:25Z', // The zone shows its hour for the second time.
        '2027-10-31T02:25Z', // UTC shows a time that the zone has had twice.
      ]) {
        const job = { name: instant, lockAtMostFor: '10m' } as const;
        await at(instant);
        assert.ok(await provider.lock(job), instant);
        await at(instant, 5);
        assert.equal(await provider.lock(job), undefined, instant);
        await at(instant, 9.99);
        assert.equal(await provider.lock(job), undefined, instant);
        await at(instant, 10);
        const lock = await provider.lock({ ...job, lockAtLeastFor: '5m' });
        assert.equal(await lock?.unlock(), true, instant);
        await at(instant, 14.99);
        assert.equal(await provider.lock(job), undefined, instant);
        await at(instant, 15);
        assert.ok(await provider.lock(job), instant);
      }
    },
  );
}

/** In the hour that the clocks of the session's zone skip, and in the hour that they show twice. */
const INSTANTS = ['2026-03-29T01:30:00.123Z', '2026-10-25T00:30:00.456Z', '2026-10-25T01:30:00.789Z'];

const SET_ZONE = {
  mysql: `SET time_zone = '-08:00'`,
  mariadb: `SET time_zone = '-08:00'`,
  postgres: `SET TIME ZONE 'Europe/Paris'`,
};

testOnServers('the time zone of a session does not affect a run (L-43)', async (bench) => {
  await createRunTables(bench.application);
  const session = bench.closeAtEnd(new OwnSession(bench.application));
  await session.query(SET_ZONE[bench.server]);
  const store = session.runs;
  for (const [number, instant] of INSTANTS.entries()) {
    const at = new Date(instant);
    const key = { ...CLAIM, scope: `${number}` };
    const beforeMs = Math.floor((await databaseNowUs(bench.application)) / 1000);
    await store.insert({ ...RUNNING, ...key, periodStart: at, periodEnd: at }, LIMIT);
    const now = await store.change(
      key,
      (found) => {
        assert.ok(found);
        return { value: found.now, write: { ...found.run, nextAttemptAt: at } };
      },
      LIMIT,
    );
    const { now: seen, runs, firstPeriodStart } = await store.peek({ ...key, since: at }, LIMIT);
    const [run] = runs;
    assert.ok(run);
    assert.deepEqual([run.periodStart, run.periodEnd, run.nextAttemptAt, firstPeriodStart], [at, at, at, at]);
    for (const instantOfDatabase of [run.createdAt, now, seen])
      assert.ok(beforeMs <= instantOfDatabase.getTime() && instantOfDatabase.getTime() < beforeMs + 60_000);
    const order = { order: 'newest-first', limit: 1 } as const;
    const later = new Date(at.getTime() + 1);
    assert.equal((await store.find({ ...order, scope: key.scope, from: at, to: later }, LIMIT)).length, 1);
    assert.equal((await store.find({ ...order, scope: key.scope, from: later }, LIMIT)).length, 0);
  }
});
