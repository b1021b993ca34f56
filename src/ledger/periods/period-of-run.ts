import { businessDateAt } from './business-date';
import type { Period, PeriodOptions } from './period';
import type { RunSummary } from '../run';

/** A row knows its period, whatever the job says of periods now. */
export function periodOfRun(run: RunSummary, options: PeriodOptions): Period {
  const { periodKey: key, periodStart: start, periodEnd: end, timeZone = options.timeZone, createdAt } = run;
  const isDay = /^\d{4}-\d\d-\d\d$/.test(key);
  const businessDate = isDay
    ? key
    : businessDateAt(start ?? createdAt, { timeZone, dayStart: options.dayStart });
  return { key, businessDate, start, end };
}
