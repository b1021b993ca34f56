import type { JobGuard } from 'cronlatch';
import { scheduleJob, type Job as ScheduledJob } from 'node-schedule';
import type { Job } from './job';

export function scheduleWithNodeSchedule(
  guard: JobGuard,
  { expression, timeZone, guarded, run }: Job,
): ScheduledJob {
  const tick = guard.wrap(guarded, run, { scheduledAt: (fireDate: Date) => fireDate });
  return scheduleJob({ rule: expression, tz: timeZone }, tick);
}
