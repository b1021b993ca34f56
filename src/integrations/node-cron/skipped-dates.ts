import { createTask, parse } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import { hostTimeZone } from '../../core/clock';
import { DAY_MS } from '../../core/duration';
import type { Calls } from '../../guard/calls/calls';
import type { Job } from '../../guard/jobs/job';
import { dateOf } from '../../ledger/periods/business-date';
import { offsetStretches } from '../../ledger/periods/time-zone';
import type { CronSchedule } from './cron-schedule';

/** The first and the last time of day at which a schedule fires, by the wall clock: milliseconds since midnight. */
interface TimesOfDay {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** A forward change of a zone's clocks, in wall-clock time: when they reach `fromMs`, they jump to `toMs`. */
interface ClockGap {
  readonly fromMs: number;
  readonly toMs: number;
}

const LOOKAHEAD_MS = 366 * DAY_MS;

/**
 * When clocks go forward, node-cron skips the ticks in between. Warns about every job that for this reason has no tick on
 * a date within the next year, although its expression matches that date.
 */
export function warnOfSkippedDates(
  calls: Pick<Calls, 'warn'>,
  jobs: readonly (Pick<Job, 'policy' | 'lock'> & { readonly schedules: readonly CronSchedule[] })[],
  now: Date = new Date(),
): void {
  for (const job of jobs) {
    const { schedules } = job;
    for (const schedule of schedules) {
      const timeZone = zoneOf(schedule);
      const dates = skippedDates(schedule, now).filter((date) =>
        schedules.every((other) => !isDueOn(other, date) || skippedDates(other, now).includes(date)),
      );
      if (dates.length === 0) continue;
      calls.warn(
        `Job '${job.lock.job}' is scheduled at '${schedule.expression}' in ${timeZone}, but the clocks there skip that time on ${dates.join(' and ')}, so the job will not start on that date. Choose a time that exists on every date, or a time zone without clock changes, such as 'UTC'.`,
      );
    }
  }
}

/** The dates that the expression matches and on which the clocks skip all of its times. */
function skippedDates(schedule: CronSchedule, now: Date): string[] {
  const gaps = gapsWithinAYear(zoneOf(schedule), now);
  return datesInGaps(gaps, timesOf(schedule)).filter((date) => isDueOn(schedule, date));
}

function zoneOf({ timeZone }: CronSchedule): string {
  return timeZone ?? hostTimeZone();
}

/** An expression has the same times on all of its dates: each of its hours with each of its minutes and seconds. */
function timesOf({ expression }: CronSchedule): TimesOfDay {
  const { hour, minute, second } = parse(expression);
  const at = (pick: (...values: number[]) => number): number =>
    ((pick(...hour) * 60 + pick(...minute)) * 60 + pick(...second)) * 1000;
  return { earliestMs: at(Math.min), latestMs: at(Math.max) };
}

/** Whether the schedule matches the date, computed in UTC, where clocks skip nothing. */
function isDueOn(schedule: CronSchedule, date: string): boolean {
  const task = createTask(schedule.expression, () => undefined, { timezone: 'UTC' });
  try {
    return task.match(new Date(Date.parse(date) + timesOf(schedule).earliestMs));
  } finally {
    void task.destroy();
  }
}

/** The times that the clocks of a zone skip within a year from this instant, the earliest first. */
export function gapsWithinAYear(timeZone: string, from: Date): ClockGap[] {
  const fromMs = from.getTime();
  try {
    const stretches = offsetStretches(timeZone, fromMs, fromMs + LOOKAHEAD_MS);
    return stretches.flatMap(({ toMs: changeMs, offsetMs }, index) => {
      const next = stretches[index + 1];
      if (next === undefined || next.offsetMs <= offsetMs) return [];
      return { fromMs: changeMs + offsetMs, toMs: changeMs + next.offsetMs };
    });
  } catch (error) {
    // A scheduler may accept an offset or an abbreviation as a zone. Such a zone has no clock changes.
    if (error instanceof InvalidLockConfigurationError) return [];
    throw error;
  }
}

/** The dates on which the clocks skip all of these times. A gap contains all of them if it contains both ends. */
export function datesInGaps(gaps: readonly ClockGap[], { earliestMs, latestMs }: TimesOfDay): string[] {
  return gaps.flatMap(({ fromMs, toMs }) => {
    const dates: string[] = [];
    for (let day = Math.floor(fromMs / DAY_MS); day * DAY_MS < toMs; day += 1) {
      const midnightMs = day * DAY_MS;
      if (midnightMs + earliestMs >= fromMs && midnightMs + latestMs < toMs) dates.push(dateOf(day));
    }
    return dates;
  });
}
