import type { CatchUpPolicy } from './catch-up';
import { periodsBetween, type CalendarPeriod, type CalendarPeriodOptions } from '../periods/period';

export interface JobHistory {
  /** The database's. */
  readonly now: Date;
  /** The period that a tick now would belong to, `target` included. It is never caught up with. */
  readonly current: CalendarPeriod;
  /** Where the earliest recorded period of the job and scope begins. Without one the job is new, and owes nothing. */
  readonly firstRecordedStart: Date | undefined;
  /** Of the periods in the window that have a row, whatever stands in it. */
  readonly recordedKeys: ReadonlySet<string>;
}

/**
 * The periods that nobody has answered for: before the current one, later than the first recorded one, not wholly
 * before the window, without a row. Whether they were *expected* the calendar says. The earliest first.
 */
export function unansweredPeriods(
  { now, current, firstRecordedStart, recordedKeys }: JobHistory,
  { windowMs }: Pick<CatchUpPolicy, 'windowMs'>,
  options: CalendarPeriodOptions,
): CalendarPeriod[] {
  if (firstRecordedStart === undefined) return [];
  const from = new Date(Math.max(now.getTime() - windowMs, firstRecordedStart.getTime()));
  return periodsBetween(from, current.start, options).filter(
    ({ key, start }) => start > firstRecordedStart && !recordedKeys.has(key),
  );
}
