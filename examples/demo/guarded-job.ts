import { SchedulerLock } from 'cronlatch';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import type { EventListener } from 'cronlatch/provider';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import type { ScheduledTask } from 'node-cron';
import { askForDay } from './ask-for-day';
import type { Day } from './day';
import { work } from './job';
import type { Reporter } from './reporter';
import { EVERY_TICK, JOB, LOCK_AT_LEAST_FOR, LOCK_AT_MOST_FOR } from './settings';
import { unplanned } from './unplanned';

export interface Guarded {
  /** The address of the database. */
  readonly address: string;
  readonly day: Day;
}

/** The job of every second under its lock, as an application would write it, and the job of the day. */
export async function scheduleGuarded(
  { address, day }: Guarded,
  reporter: Reporter,
): Promise<ScheduledTask[]> {
  class DemoJobs {
    scheduledAt: Date | undefined;

    @Scheduled(EVERY_TICK)
    @SchedulerLock(JOB, LOCK_AT_MOST_FOR, LOCK_AT_LEAST_FOR)
    async work(): Promise<void> {
      await work(this.scheduledAt, reporter);
    }
  }

  const jobs = new DemoJobs();
  const guard = await createJobGuard(address, { logger: unplanned });
  const onTick = <K extends 'run:started' | 'run:failed' | 'lock:skipped' | 'lock:failed'>(
    event: K,
    listener: EventListener<K>,
  ): void => {
    guard.on(event, (outcome) => (outcome.name === JOB ? listener(outcome) : undefined));
  };
  // Emitted right before the handler is called.
  onTick('run:started', ({ scheduledAt }) => void (jobs.scheduledAt = scheduledAt));
  onTick('lock:skipped', ({ scheduledAt, reason }) => reporter.report('skipped', scheduledAt, reason));
  onTick('lock:failed', ({ scheduledAt }) => reporter.report('failed', scheduledAt));
  onTick('run:failed', ({ scheduledAt }) => reporter.report('failed', scheduledAt));
  askForDay(guard, day, reporter);
  guard.closeOnSignals();
  return scheduleJobs(jobs, { guard });
}
