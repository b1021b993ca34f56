import { InvalidLockConfigurationError } from '../core';
import { DAY_MS } from '../core/duration';
import { dateOf } from '../ledger/periods/business-date';
import { offsetStretches } from '../ledger/periods/time-zone';

/** When a job is due on the dates on which it is due, by the wall clock: milliseconds since midnight. */
export interface TimesOfDay {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** One time at which a zone's clocks are put forward, as they show it: from `fromMs` on they show `toMs`. */
export interface ClockGap {
  readonly fromMs: number;
  readonly toMs: number;
}

const WITHIN_MS = 366 * DAY_MS;

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
