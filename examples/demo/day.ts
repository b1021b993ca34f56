import { businessDateAt } from 'cronlatch/calendar';

export const DAY_JOB = 'close-day';
/** For the effects of its attempts. */
export const EFFECTS_TABLE = 'effects';

/** The day on which that job must run once. */
export class Day {
  /** @param at selects the day, independently of the current time: midnight changes nothing */
  constructor(readonly at: Date) {}

  get oncePer(): { period: 'day'; timeZone: string; retry: { initialDelay: string } } {
    return { period: 'day', timeZone: 'UTC', retry: { initialDelay: '1s' } };
  }

  /** `'YYYY-MM-DD'`, which is also the key of its run. */
  get date(): string {
    return businessDateAt(this.at, this.oncePer);
  }
}
