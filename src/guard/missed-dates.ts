import type { GuardConfiguration } from './job-configuration';
import type { JobGuard } from './job-guard';

export interface ScheduledJob {
  readonly place: string;
  readonly configuration: GuardConfiguration;
  readonly schedules: readonly { readonly expression: string }[];
}

/**
 * What is caught up with the calendar says, and never the cron expression: where that one leaves dates out and no
 * calendar does, they would count as missed.
 */
export function warnOfMissedDates(guard: JobGuard, jobs: readonly ScheduledJob[]): void {
  for (const { place, configuration, schedules } of jobs) {
    const { catchUp = 'none', calendar, period } = configuration.oncePer ?? {};
    if (typeof period === 'function') continue;
    const [expression] = schedules.map((schedule) => schedule.expression).filter(leavesDatesOut);
    if (catchUp === 'none' || calendar !== undefined || expression === undefined) continue;
    guard.warn(
      `${place} is scheduled at '${expression}', which leaves dates out, and catches up with every date that has no run: give it a calendar, for example weekdays().`,
    );
  }
}

/** Its fields of the day, the month or the weekday, which are the last three, name something. */
function leavesDatesOut(expression: string): boolean {
  return expression
    .trim()
    .split(/\s+/)
    .slice(-3)
    .some((field) => field !== '*' && field !== '?');
}
