import { configureJobGuard, SchedulerLock } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import type { Contender } from './contender';
import { LIBRARY_LOCK, LOCK_AT_MOST_FOR } from './terms';

/** A job without work, so that all of its time is the lock's. */
class Job {
  runs = 0;

  @SchedulerLock(LIBRARY_LOCK, LOCK_AT_MOST_FOR)
  work(): Promise<void> {
    this.runs += 1;
    return Promise.resolve();
  }
}

/** The main use: a decorated method, under a guard on the application's DataSource. */
export async function openLibrary(options: DataSourceOptions): Promise<Contender> {
  // The other contenders log nothing either.
  const guard = await createJobGuard(new DataSource(options), { logger: false });
  configureJobGuard(guard);
  const job = new Job();
  let calls = 0;
  return {
    async pair() {
      await job.work();
      calls += 1;
      if (job.runs !== calls) throw new Error('A call of the library was skipped.');
    },
    async [Symbol.asyncDispose]() {
      await guard.close();
    },
  };
}
