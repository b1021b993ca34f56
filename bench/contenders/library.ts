import { OncePerDay, SchedulerLock, type JobGuard } from 'cronlatch';
import { bindGuard } from '#cronlatch/guard/configured-guard';
import type { Contender } from '../contest/contender';
import { CONTENDED_LOCK, LIBRARY_LOCK, LOCK_AT_MOST_FOR } from './terms';

/** A handler without work, so that all of its time is the lock's. */
export interface Job {
  runs: number;
  work(scope: string): Promise<void>;
}

/** A decorated method, which is the main use. */
function lockedJob(name: string): Job {
  class LockedJob {
    runs = 0;

    @SchedulerLock(name, LOCK_AT_MOST_FOR)
    work(): Promise<void> {
      this.runs += 1;
      return Promise.resolve();
    }
  }
  return new LockedJob();
}

/** Each scope is another run of the same day, so a new one is a new row of the ledger. */
function dailyJob(name: string): Job {
  class DailyJob {
    runs = 0;

    @SchedulerLock({ name, lockAtMostFor: LOCK_AT_MOST_FOR })
    @OncePerDay({ timeZone: 'UTC', scope: (scope: string) => scope, resume: ({ scope }) => [scope] })
    work(scope: string): Promise<void> {
      this.runs += scope === '' ? 0 : 1;
      return Promise.resolve();
    }
  }
  return new DailyJob();
}

/** Locks and unlocks, each worker its own name. */
export function libraryPairs(guard: JobGuard, workers: number): Contender {
  const jobs = Array.from({ length: workers }, (_, worker) =>
    bound(guard, lockedJob(`${LIBRARY_LOCK}-${worker}`)),
  );
  const calls = jobs.map(() => 0);
  return {
    async perform(worker) {
      const job = jobs[worker] as Job;
      await job.work('');
      const expected = (calls[worker] = (calls[worker] ?? 0) + 1);
      if (job.runs !== expected) throw new Error('A call of the library was skipped.');
    },
    [Symbol.asyncDispose]: async () => void (await guard.close()),
  };
}

/** Ticks of a job whose lock another owner holds. */
export function refusedTicks(guard: JobGuard): Contender {
  return skippedTicks(guard, bound(guard, lockedJob(CONTENDED_LOCK)), '');
}

/** Runs of once-per-day jobs, each a new one. Each worker has its own job. */
export function newRuns(guard: JobGuard, workers = 1): Contender {
  const jobs = Array.from({ length: workers }, (_, worker) =>
    bound(guard, dailyJob(`bench-daily-${worker}`)),
  );
  const begin = `${process.hrtime.bigint()}`;
  let calls = 0;
  return {
    async perform(worker) {
      const job = jobs[worker] as Job;
      const expected = job.runs + 1;
      calls += 1;
      await job.work(`${begin}-${calls}`);
      if (job.runs !== expected) throw new Error('A new run of the library was skipped.');
    },
    [Symbol.asyncDispose]: async () => void (await guard.close()),
  };
}

/** The scope of a run that has ended. */
export const DONE = 'done';

/** The job and scope of the ticks below, for the statements of a baseline. */
export const DONE_JOB = 'bench-done';

/** Ticks of a once-per-day job that has completed today. */
export async function doneTicks(guard: JobGuard): Promise<Contender> {
  const job = bound(guard, dailyJob(DONE_JOB));
  await job.work(DONE);
  return skippedTicks(guard, job, DONE);
}

function skippedTicks(guard: JobGuard, job: Job, scope: string): Contender {
  const { runs } = job;
  return {
    async perform() {
      await job.work(scope);
      if (job.runs !== runs) throw new Error('A tick that should be skipped ran the job.');
    },
    [Symbol.asyncDispose]: async () => void (await guard.close()),
  };
}

/** A process can have one configured guard only, and here several alternate. Schedulers bind instances the same way. */
export function bound(guard: JobGuard, job: Job): Job {
  bindGuard(job, guard);
  return job;
}
