import { businessDateAt } from 'cronlatch/calendar';

/** The job that must run once on one day, with the names that the parent and its workers share. */
export class Day {
  readonly job: string;
  /** The table for the effects of its attempts, which belongs to this demo. */
  readonly effectsTable: string;

  /** @param at selects the day, independently of the current time: midnight changes nothing */
  constructor(
    lockName: string,
    readonly at: Date,
  ) {
    this.job = `${lockName}-day`;
    this.effectsTable = `${lockName.replaceAll('-', '_')}_effects`;
  }

  get oncePer(): { period: 'day'; timeZone: string; retry: { initialDelay: string } } {
    return { period: 'day', timeZone: 'UTC', retry: { initialDelay: '1s' } };
  }

  /** `'YYYY-MM-DD'`, which is also the key of its run. */
  get date(): string {
    return businessDateAt(this.at, this.oncePer);
  }
}
