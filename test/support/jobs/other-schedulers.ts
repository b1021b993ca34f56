/** The schedulers of docs/other-schedulers.md, used as that page shows. */
import type { JobGuard } from 'cronlatch';
import { scheduleWithCron } from '../../docs/other-schedulers/cron';
import { scheduleWithCroner } from '../../docs/other-schedulers/croner';
import { runEvery } from '../../docs/other-schedulers/interval';
import type { Job } from '../../docs/other-schedulers/job';
import { scheduleWithNodeSchedule } from '../../docs/other-schedulers/node-schedule';

/** @returns a function that stops it */
type Schedule = (guard: JobGuard, job: Job) => () => void;

/** The schedulers that report the time of a tick, or let it be derived. */
export const CRON_SCHEDULERS = {
  croner: (guard, job) => {
    const cron = scheduleWithCroner(guard, job);
    return () => cron.stop();
  },
  cron: (guard, job) => {
    const cron = scheduleWithCron(guard, job);
    return () => void cron.stop();
  },
  'node-schedule': (guard, job) => {
    const scheduled = scheduleWithNodeSchedule(guard, job);
    return () => void scheduled.cancel();
  },
} satisfies Readonly<Record<string, Schedule>>;

const everySecond: Schedule = (guard, job) => {
  const timer = runEvery(1000, guard, job);
  return () => clearInterval(timer);
};

export const SCHEDULERS = { ...CRON_SCHEDULERS, setInterval: everySecond } satisfies Readonly<
  Record<string, Schedule>
>;

export type SchedulerName = keyof typeof SCHEDULERS;

export const SCHEDULER_NAMES = Object.keys(SCHEDULERS) as SchedulerName[];

export const CRON_SCHEDULER_NAMES = Object.keys(CRON_SCHEDULERS) as (keyof typeof CRON_SCHEDULERS)[];
