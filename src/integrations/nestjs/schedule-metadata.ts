import 'reflect-metadata';
import { addTimeZoneReader } from '../../guard/guarded-method';

/** What `@Cron` of @nestjs/schedule leaves on a method. */
export interface CronMetadata {
  /** An expression; or a date, for a job that runs once. */
  readonly cronTime: unknown;
  readonly timeZone?: unknown;
  readonly name?: unknown;
  readonly disabled?: unknown;
}

// It does not export its keys; the tests hold them, for every version of it.
const CRON = 'SCHEDULE_CRON_OPTIONS';
const KIND = 'SCHEDULER_TYPE';

export function cronOf(method: object): CronMetadata | undefined {
  return Reflect.getMetadata(CRON, method) as CronMetadata | undefined;
}

/** Whether `@Cron`, `@Interval` or `@Timeout` stands on the method. */
export function isScheduled(method: object): boolean {
  return Reflect.hasMetadata(KIND, method);
}

/** The business day of a once-per job that says no zone is in that of its `@Cron`. An offset from UTC is no zone. */
addTimeZoneReader((method) => {
  const cron = cronOf(method);
  if (cron === undefined) return [];
  return [typeof cron.timeZone === 'string' ? cron.timeZone : undefined];
});
