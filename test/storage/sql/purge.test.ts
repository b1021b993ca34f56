import assert from 'node:assert/strict';
import type { JobGuard } from 'cronlatch';
import { periodAt, type CalendarPeriod } from 'cronlatch/calendar';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { testOnServers, type ServerBench } from '../../support/benches/server';
import { insertFinishedRuns } from '../../support/databases/finished-runs';
import { testOnEvery } from '../../support/databases/fresh';
import { databaseNowUs } from '../../support/databases/lock-table';
import { createRunTables, ledgerDataSource, shiftRunsBack } from '../../support/databases/run-tables';
import { addRuns, purge } from '../../support/jobs/acts';
import { LIMIT } from '../../support/jobs/runs';
import { TypeOrmRunStore } from '../../support/stores/typeorm-run-store';

const DAY_MS = 86_400_000;
const DAILY = { kind: 'day', timeZone: 'UTC' } as const;
const JOB = {
  ...{ name: 'close-day', lockAtMostFor: '1m' },
  oncePer: { period: 'day', timeZone: 'UTC', catchUp: 'all', catchUpWindow: '30d' },
} as const;

interface PurgeBench extends ServerBench {
  /** The guard in which the job is registered and catches up. */
  readonly guard: JobGuard;
  /** Another program, which does not know the catch-up window: it has no jobs, and no register of jobs. */
  readonly maintenance: JobGuard;
  /** The periods that the job has run for. */
  readonly ran: string[];
  /** The completed days, the earliest first: from 20 days ago until yesterday. */
  readonly days: readonly CalendarPeriod[];
}

function testPurge(name: string, body: (bench: PurgeBench) => Promise<void>): void {
  testOnServers(name, async (bench) => {
    await createRunTables(bench.application);
    const store = bench.closeAtEnd(new TypeOrmRunStore(bench.dataSource()));
    const nowMs = (await databaseNowUs(bench.application)) / 1000;
    const days = Array.from({ length: 20 }, (_, day) =>
      periodAt(new Date(nowMs - (20 - day) * DAY_MS), DAILY),
    );
    for (const { key: periodKey, start: periodStart, end: periodEnd } of days) {
      const run = { job: JOB.name, scope: '', periodKey, periodStart, periodEnd, timeZone: 'UTC' };
      const started = { claimedBy: 'host/1/a', lockId: 'place/close-day', fencingToken: 7, leaseMs: 60_000 };
      await store.insert({ ...run, state: 'running', started }, LIMIT);
      const claim = { job: JOB.name, scope: '', periodKey, generation: 0, attempt: 1, claimedBy: 'host/1/a' };
      assert.equal(await store.complete(claim, undefined, LIMIT), true);
    }
    await shiftRunsBack(bench.application, 30 * DAY_MS);
    const options = { logger: false, pollInterval: false } as const;
    const guard = bench.closeAtEnd(await createJobGuard(bench.dataSource(), options));
    const withoutRegister = { ...options, jobTable: 'no_jobs' };
    const maintenance = bench.closeAtEnd(await createJobGuard(bench.dataSource(), withoutRegister));
    const ran: string[] = [];
    guard.wrap(JOB, () => void ran.push('ran'));
    await body(Object.assign(bench, { guard, maintenance, ran, days }));
  });
}

/** No purged day counts as missed, and none of them runs again. */
async function assertNothingMissed({ guard, ran }: PurgeBench): Promise<void> {
  assert.deepEqual(
    (await guard.ledger.gaps(JOB.name)).map(({ key }) => key),
    [],
  );
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(ran, []);
}

const OF_JOB = `FROM cronlatch_run WHERE job_name = '${JOB.name}' AND scope = '' AND period_key`;

testPurge(
  'a run that another transaction has locked stays, and the days purged after it do not count as missed (L-55, F-73)',
  async (bench) => {
    const { maintenance, database, stranger, days } = bench;
    await database.ask('START TRANSACTION');
    await database.ask(`SELECT id ${OF_JOB} = '${days[2]?.key}' FOR UPDATE`);
    assert.equal(await purge(maintenance, '2d'), 17);
    await stranger.commit();
    await assertNothingMissed(bench);
    assert.ok(await bench.guard.ledger.get({ job: JOB.name, periodKey: days[2]?.key ?? '' }));
    const range = { from: days[0]?.key ?? '', to: days[10]?.key ?? '' };
    await assert.rejects(addRuns(bench.guard, range), /Cannot add runs of .* so far back/);
  },
);

testPurge(
  'a purge beside another one that is rolled back leaves no day that counts as missed (L-55)',
  async (bench) => {
    const { maintenance, database, days } = bench;
    const half = days.slice(0, 9).map(({ key }) => `'${key}'`);
    await database.ask('START TRANSACTION');
    for (const key of half) await database.ask(`DELETE ${OF_JOB} = ${key}`);
    assert.equal(await purge(maintenance, '2d'), 9);
    await database.ask('ROLLBACK');
    await assertNothingMissed(bench);
    assert.equal(await purge(maintenance, '2d'), 9);
    await assertNothingMissed(bench);
  },
);

testPurge('a purge that fails halfway leaves no day that counts as missed (L-55)', async (bench) => {
  const { maintenance, application } = bench;
  // The purge mark cannot be written, so no run may be deleted.
  const rename = (from: string, to: string): Promise<unknown> =>
    application.query(`ALTER TABLE cronlatch_run_event RENAME COLUMN ${from} TO ${to}`);
  await rename('actor', 'actors');
  await assert.rejects(purge(maintenance, '2d'));
  await rename('actors', 'actor');
  await assertNothingMissed(bench);
  assert.equal((await bench.guard.ledger.list({ limit: 100 })).length, 20);
});

testPurge('two purges at once delete each run once, and no day counts as missed (L-55)', async (bench) => {
  const { maintenance, guard, application } = bench;
  await insertFinishedRuns(application, { count: 5000, period: 'hour' });
  await insertFinishedRuns(application, { job: 'slots', count: 5000, period: 'none' });
  const [one = 0, other = 0] = await Promise.all([maintenance, guard].map((each) => purge(each, '31d')));
  assert.equal(one + other, 2 * (5000 - 31 * 24));
  assert.equal(await purge(maintenance, '2d'), 18 + 2 * 29 * 24);
  await assertNothingMissed(bench);
});

testOnEvery(
  'a purge deletes thousands of runs of one job, with and without a period, and of ticks, within its time limits (L-55)',
  async (database) => {
    await using application = closing(await ledgerDataSource(database));
    await insertFinishedRuns(application, { count: 20_000, period: 'hour' });
    await insertFinishedRuns(application, { job: 'slots', count: 20_000, period: 'none' });
    await insertFinishedRuns(application, { job: 'ticks', count: 20_000, period: 'tick' });
    await using guard = closing(await createJobGuard(application, { logger: false }));
    assert.equal(await purge(guard, '36500d'), 19_000, 'the newest 1,000 ticks stay');
    assert.equal(await purge(guard, '1d'), 2 * (20_000 - 24) + 1000 - 24);
    assert.equal(await purge(guard, '1d'), 0);
  },
);
