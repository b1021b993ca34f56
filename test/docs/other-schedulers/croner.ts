import { Cron } from 'croner';
import type { JobGuard } from 'cronlatch';
import type { Job } from './job';

/** croner passes the time at which a tick arrived. Its scheduled time is the last time that the pattern matches. */
function scheduledTime(cron: Cron): Date | undefined {
  return cron.previousRuns(1, new Date(Date.now() + 1))[0];
}

export function scheduleWithCroner(guard: JobGuard, { expression, timeZone, guarded, run }: Job): Cron {
  const schedule = { expression, timeZone, dialect: 'croner' } as const;
  const tick = guard.wrap(guarded, run, { scheduledAt: scheduledTime, schedule });
  return new Cron(expression, { timezone: timeZone }, tick);
}
