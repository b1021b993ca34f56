import { businessDateAt } from 'cronlatch/calendar';

/** The job that is to run once on one day, as the parent and its workers know it. */
export class Day {
  readonly job: string;
  /** Where its attempts write what they do: in this demo's own table. */
  readonly effectsTable: string;

  /** @param at names the day, whatever the time: midnight changes nothing */
  constructor(
    lockName: string,
    readonly at: Date,
  ) {
    this.job = `${lockName}-day`;
    this.effectsTable = `${lockName.replaceAll('-', '_')}_effects`;
  }

  get oncePer(): { period: 'day'; timeZone: string; retry: { minDelay: string } } {
    return { period: 'day', timeZone: 'UTC', retry: { minDelay: '1s' } };
  }

  /** `'YYYY-MM-DD'`, which is also the key of its run. */
  get date(): string {
    return businessDateAt(this.at, this.oncePer);
  }
}
