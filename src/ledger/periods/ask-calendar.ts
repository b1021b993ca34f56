import { withinLimit, type Clock } from '../../core/clock';
import { describeValue } from '../../core/describe-value';
import type { BusinessCalendar } from './calendar';

/** What a calendar says of a date. While it fails, nothing runs, nothing is recorded, and it is asked again. */
export type CalendarAnswer = 'business-day' | 'holiday' | CalendarFailure;

export interface CalendarFailure {
  /** For a person. */
  readonly failed: string;
  /** What the calendar threw. */
  readonly cause?: unknown;
}

export interface AskCalendarOptions {
  readonly clock: Clock;
  readonly limitMs?: number;
}

const LIMIT_MS = 5000;

/** Never rejects. An answer that comes after the limit is not heard. */
export async function askCalendar(
  calendar: BusinessCalendar,
  date: string,
  { clock, limitMs = LIMIT_MS }: AskCalendarOptions,
): Promise<CalendarAnswer> {
  try {
    const answer = await withinLimit(clock, answerOf(calendar, date), limitMs);
    if (answer === 'time-out')
      return { failed: `the calendar did not answer for ${date} within ${limitMs} ms` };
    if (answer.said === true) return 'business-day';
    if (answer.said === false) return 'holiday';
    return {
      failed: `the calendar answered ${describeValue(answer.said)} for ${date}, neither true nor false`,
    };
  } catch (cause) {
    return { failed: `the calendar threw for ${date}`, cause };
  }
}

/** As an object: whatever a calendar says is not taken for a time-out. */
async function answerOf(calendar: BusinessCalendar, date: string): Promise<{ said: unknown }> {
  return { said: await calendar.isBusinessDay(date) };
}
