import { newOwner } from '#cronlatch/core/lease/owner';
import { RunStatements } from '#cronlatch/storage/sql/ledger/run-statements';
import type { SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import type { Contender } from '../contest/contender';
import type { BareDatabase } from '../databases/bench-database';
import { DONE, DONE_JOB } from './library';
import { insertReleased, lockWriter, openDriver } from './raw';
import { BASELINE_LOCK } from './terms';

const DAY_MS = 86_400_000;
const LEASE_MS = 600_000;

/** The statements that a once-per-day run needs. */
export interface RunWriter {
  /** Returns one row without a run, and two if there is one. */
  read(job: string, scope: string): SqlStatement;
  claim(job: string, scope: string, owner: string): SqlStatement;
  complete(job: string, scope: string, owner: string): SqlStatement;
}

/** The library's own statements for the runs of today. */
export function runWriter({ dialect, shape }: BareDatabase): RunWriter {
  const runs = new RunStatements(
    dialect,
    { run: tableOf('run'), event: tableOf('event') },
    { ...shape, keyIndex: 'uq_cronlatch_run' },
  );
  const { periodKey, ...period } = today();
  return {
    read: (job, scope) => runs.peek([{ job, scope, periodKey, since: undefined }]),
    claim(job, scope, claimedBy) {
      const started = { claimedBy, lockId: job, fencingToken: 1, leaseMs: LEASE_MS };
      return runs.insert({ job, scope, periodKey, ...period, state: 'running', started });
    },
    complete: (job, scope, claimedBy) =>
      runs.complete({ job, scope, periodKey, generation: 0, attempt: 1, claimedBy }, undefined),
  };
}

/**
 * What a new run of a once-per-day job needs: a read, its lock, its row, its completion, and the release. Each worker has
 * its own job, and its own connection.
 */
export async function openRawRuns(database: BareDatabase, workers: number): Promise<Contender> {
  const driver = await openDriver(database, workers);
  const [runs, lock] = [runWriter(database), lockWriter(database)];
  const jobs = Array.from({ length: workers }, (_, worker) => `${BASELINE_LOCK}-daily-${worker}`);
  for (const job of jobs) await insertReleased(driver, lock, job);
  const begin = `${process.hrtime.bigint()}`;
  let calls = 0;
  return {
    async perform(worker) {
      calls += 1;
      const [job, scope, owner] = [jobs[worker] ?? '', `${begin}-${calls}`, newOwner()];
      const statements = [
        runs.read(job, scope),
        lock('takeOver', job, owner),
        runs.claim(job, scope, owner),
        runs.complete(job, scope, owner),
        lock('unlock', job, owner),
      ];
      for (const statement of statements) await driver.send(worker, statement, 1);
    },
    [Symbol.asyncDispose]: () => driver.end(),
  };
}

/** The read that shows that a run has ended. */
export async function openRawReads(database: BareDatabase): Promise<Contender> {
  const driver = await openDriver(database, 1);
  const runs = runWriter(database);
  return {
    perform: () => driver.send(0, runs.read(DONE_JOB, DONE), 2),
    [Symbol.asyncDispose]: () => driver.end(),
  };
}

function today() {
  const periodStart = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  return {
    periodKey: periodStart.toISOString().slice(0, 10),
    periodStart,
    periodEnd: new Date(periodStart.getTime() + DAY_MS),
    timeZone: 'UTC',
  };
}
