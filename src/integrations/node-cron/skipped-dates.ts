import { createTask, parse } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import { DAY_MS } from '../../core/duration';
import type { GuardIntegration } from '../../guard/integration';
import { dateOf } from '../../ledger/periods/business-date';
import { offsetStretches } from '../../ledger/periods/time-zone';
import type { CronSchedule } from './cron-schedule';

/** When a job is due on the dates on which it is due, by the wall clock: milliseconds since midnight. */
interface TimesOfDay {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** One time at which a zone's clocks are put forward, as they show it: from `fromMs` on they show `toMs`. */
interface ClockGap {
  readonly fromMs: number;
  readonly toMs: number;
}

const WITHIN_MS = 366 * DAY_MS;

/**
 * Where clocks are put forward, node-cron leaves out what would have been in between. Tells of every job that for this
 * reason has no tick at all on a date within a year, though its expression has one.
 */
export function warnOfSkippedDates(
  integration: Pick<GuardIntegration, 'warn'>,
  jobs: readonly { readonly place: string; readonly schedules: readonly CronSchedule[] }[],
  now: Date = new Date(),
): void {
  const gapsIn = gapsFrom(now);
  for (const { place, schedules } of jobs) {
    for (const schedule of schedules) {
      const timeZone = zoneOf(schedule);
      const dates = skippedDates(schedule, gapsIn).filter((date) =>
        schedules.every((other) => !isDueOn(other, date) || skippedDates(other, gapsIn).includes(date)),
      );
      if (dates.length === 0) continue;
      integration.warn(
        `${place} is scheduled at '${schedule.expression}' in ${timeZone}, where the clocks skip that time on ${dates.join(' and ')}: it is not started on that date. Choose a time that every date has, or a zone whose clocks are never changed, such as 'UTC'.`,
      );
    }
  }
}

type GapsIn = (timeZone: string) => readonly ClockGap[];

/** Once a zone, however many jobs are in it. */
function gapsFrom(now: Date): GapsIn {
  const known = new Map<string, readonly ClockGap[]>();
  return (timeZone) => {
    const gaps = known.get(timeZone) ?? gapsWithinAYear(timeZone, now);
    known.set(timeZone, gaps);
    return gaps;
  };
}

/** On which the expression is due, and all of its times are skipped. */
function skippedDates(schedule: CronSchedule, gapsIn: GapsIn): string[] {
  return datesInGaps(gapsIn(zoneOf(schedule)), timesOf(schedule)).filter((date) => isDueOn(schedule, date));
}

function zoneOf({ timeZone }: CronSchedule): string {
  return timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** An expression has the same times on all of its dates: any of its hours, with any of its minutes and seconds. */
function timesOf({ expression }: CronSchedule): TimesOfDay {
  const { hour, minute, second } = parse(expression);
  const at = (pick: (...values: number[]) => number): number =>
    ((pick(...hour) * 60 + pick(...minute)) * 60 + pick(...second)) * 1000;
  return { earliestMs: at(Math.min), latestMs: at(Math.max) };
}

/** Whether it would have a tick on a date of which the clocks skip nothing, as in UTC. */
function isDueOn(schedule: CronSchedule, date: string): boolean {
  const task = createTask(schedule.expression, () => undefined, { timezone: 'UTC' });
  try {
    return task.match(new Date(Date.parse(date) + timesOf(schedule).earliestMs));
  } finally {
    void task.destroy();
  }
}

/** The times that the clocks of a zone skip within a year from this instant on. The earliest first. */
export function gapsWithinAYear(timeZone: string, from: Date): ClockGap[] {
  const fromMs = from.getTime();
  try {
    const stretches = offsetStretches(timeZone, fromMs, fromMs + WITHIN_MS);
    return stretches.flatMap(({ toMs: changeMs, offsetMs }, index) => {
      const next = stretches[index + 1];
      if (next === undefined || next.offsetMs <= offsetMs) return [];
      return { fromMs: changeMs + offsetMs, toMs: changeMs + next.offsetMs };
    });
  } catch (error) {
    // A scheduler may take an offset for a zone, or what Intl has for an abbreviation: clocks that are never changed.
    if (error instanceof InvalidLockConfigurationError) return [];
    throw error;
  }
}

/** The dates on which all of these times are skipped. A gap is one stretch: it has all of them if it has both ends. */
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
