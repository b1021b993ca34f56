import { newOwner } from '#cronlatch/core/lease/owner';
import { RunStatements } from '#cronlatch/storage/sql/ledger/run-statements';
import { runTablesOf } from '#cronlatch/storage/sql/schema/run-tables';
import type { Contender } from '../contest/contender';
import type { BenchDatabase } from '../databases/bench-database';
import { DONE, DONE_JOB } from './library';
import { insertReleased, lockWriter, openDriver, type Driver } from './raw';
import { BASELINE_LOCK } from './terms';

const DAY_MS = 86_400_000;

/** The library's own statements for runs. */
function runStatements({ dialect, shape }: BenchDatabase): RunStatements {
  const overridesClock = dialect.byServerClock !== undefined;
  return new RunStatements(dialect, runTablesOf(), {
    ...shape,
    keyIndex: 'uq_cronlatch_run',
    overridesClock,
  });
}

/** What a new run of a once-per-day job needs: a read, its lock, its row, its completion, and the release. */
export async function openRawRuns(database: BenchDatabase): Promise<Contender> {
  const driver = await openDriver(database, 1);
  const [runs, lock] = [runStatements(database), lockWriter(database)];
  const job = `${BASELINE_LOCK}-daily`;
  await insertReleased(driver, lock, job);
  const period = today();
  const begin = `${process.hrtime.bigint()}`;
  let calls = 0;
  return {
    async perform() {
      calls += 1;
      const key = { job, scope: `${begin}-${calls}`, periodKey: period.key };
      const owner = newOwner();
      await driver.send(0, runs.peek({ ...key, since: undefined }), 1);
      await driver.send(0, lock('takeOver', job, owner), 1);
      const started = { claimedBy: owner, lockId: job, fencingToken: calls, leaseMs: 600_000 };
      await driver.send(0, runs.insert({ ...key, ...period, state: 'running', started }), 1);
      await driver.send(
        0,
        runs.complete({ ...key, generation: 0, attempt: 1, claimedBy: owner }, undefined),
        1,
      );
      await driver.send(0, lock('unlock', job, owner), 1);
    },
    [Symbol.asyncDispose]: () => driver.end(),
  };
}

/** The read that shows that a run has ended. */
export async function openRawReads(database: BenchDatabase): Promise<Contender> {
  const driver: Driver = await openDriver(database, 1);
  const runs = runStatements(database);
  const request = { job: DONE_JOB, scope: DONE, periodKey: today().key, since: undefined };
  return {
    perform: () => driver.send(0, runs.peek(request), 1),
    [Symbol.asyncDispose]: () => driver.end(),
  };
}

function today() {
  const periodStart = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  return {
    key: periodStart.toISOString().slice(0, 10),
    periodStart,
    periodEnd: new Date(periodStart.getTime() + DAY_MS),
    timeZone: 'UTC',
  };
}
