import { Cron } from 'croner';
import type { JobGuard } from 'cronlatch';
import type { Job } from './job';

/** croner tells when a tick came, and not when it was due. That was the last instant that its pattern matches. */
function dueAt(cron: Cron): Date | undefined {
  return cron.previousRuns(1, new Date(Date.now() + 1))[0];
}

export function scheduleWithCroner(guard: JobGuard, { expression, timeZone, guarded, run }: Job): Cron {
  const tick = guard.wrap(guarded, run, { scheduledAt: dueAt });
  return new Cron(expression, { timezone: timeZone }, tick);
}
