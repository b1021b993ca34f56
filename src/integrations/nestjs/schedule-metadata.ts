import 'reflect-metadata';
import { timeZoneReaders } from '../../guard/calls/guarded-method';

/** The metadata that `@Cron` of @nestjs/schedule sets on a method. */
export interface CronMetadata {
  /** An expression, or a date for a job that runs once. */
  readonly cronTime: unknown;
  readonly timeZone?: unknown;
  readonly utcOffset?: unknown;
  readonly name?: unknown;
  readonly disabled?: unknown;
}

// @nestjs/schedule does not export its metadata keys. Tests check them for every supported version.
const CRON = 'SCHEDULE_CRON_OPTIONS';
const INTERVAL = 'SCHEDULE_INTERVAL_OPTIONS';
const KIND = 'SCHEDULER_TYPE';

export function cronOf(method: object): CronMetadata | undefined {
  return Reflect.getMetadata(CRON, method) as CronMetadata | undefined;
}

/** The time between two ticks of `@Interval`, in milliseconds. */
export function intervalOf(method: object): number | undefined {
  return (Reflect.getMetadata(INTERVAL, method) as { readonly timeout: number } | undefined)?.timeout;
}

export function isScheduled(method: object): boolean {
  return Reflect.hasMetadata(KIND, method);
}

/** A once-per job without a time zone of its own uses that of its `@Cron`. An offset from UTC does not count. */
timeZoneReaders.add((method) => {
  const cron = cronOf(method);
  if (cron === undefined) return [];
  return [typeof cron.timeZone === 'string' ? cron.timeZone : undefined];
});
