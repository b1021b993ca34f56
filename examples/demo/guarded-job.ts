import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import type { ScheduledTask } from 'node-cron';
import dataSource from '../../ormconfig';
import { work } from './job';
import type { Reporter } from './reporter';
import { EVERY_TICK, LOCK_AT_LEAST_FOR, LOCK_AT_MOST_FOR } from './settings';

/** The job under its lock, as an application would write it. */
export async function scheduleGuarded(lockName: string, reporter: Reporter): Promise<ScheduledTask[]> {
  class DemoJobs {
    scheduledAt: Date | undefined;

    @Scheduled(EVERY_TICK)
    @SchedulerLock(lockName, LOCK_AT_MOST_FOR, LOCK_AT_LEAST_FOR)
    async work(): Promise<void> {
      await work(this.scheduledAt, reporter);
    }
  }

  const jobs = new DemoJobs();
  const guard = await createJobGuard(dataSource);
  // Emitted right before the handler is called.
  guard.on('run:started', ({ scheduledAt }) => void (jobs.scheduledAt = scheduledAt));
  guard.on('lock:skipped', ({ scheduledAt, reason }) => reporter.report('skipped', scheduledAt, reason));
  guard.on('lock:failed', ({ scheduledAt }) => reporter.report('failed', scheduledAt));
  guard.on('run:failed', ({ scheduledAt }) => reporter.report('failed', scheduledAt));
  guard.closeOnSignals();
  return scheduleJobs(jobs, { guard });
}
