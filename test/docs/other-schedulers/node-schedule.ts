import type { JobGuard } from 'cronlatch';
import { scheduleJob, type Job as ScheduledJob } from 'node-schedule';
import type { Job } from './job';

export function scheduleWithNodeSchedule(
  guard: JobGuard,
  { expression, timeZone, guarded, run }: Job,
): ScheduledJob {
  const schedule = { expression, timeZone, dialect: 'croner' } as const;
  const tick = guard.wrap(guarded, run, { scheduledAt: (fireDate: Date) => fireDate, schedule });
  return scheduleJob({ rule: expression, tz: timeZone }, tick);
}
