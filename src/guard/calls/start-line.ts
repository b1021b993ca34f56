import type { CronlatchEvents } from '../../core';
import { hostTimeZone } from '../../core/clock';
import { DAY_MS, HOUR_MS } from '../../core/duration';
import { timeText } from '../../ledger/operator/state-of-run';
import { intervalOf } from '../../ledger/periods/schedule';
import type { AdmittedJob } from '../jobs/job';
import { relative } from '../log/time-texts';

const MOST_NAMED = 3;

/** @param of.database its kind and name, without credentials, if it is known */
export function startOf(
  jobs: readonly AdmittedJob[],
  now: Date,
  { instance, database }: { readonly instance: string; readonly database: string | undefined },
): CronlatchEvents['guard:started'] {
  const timed = jobs.map((job) => ({ job, next: nextTimeOf(job, now) }));
  timed.sort((a, b) => Number(a.next ?? Infinity) - Number(b.next ?? Infinity));
  const named = timed.slice(0, MOST_NAMED).map(({ job, next }) => describe(job, next, now));
  if (timed.length > MOST_NAMED) named.push(`and ${timed.length - MOST_NAMED} more`);
  const count = `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}`;
  const place = database === undefined ? '' : ` on ${database}`;
  return {
    message: `${instance} guards ${count}${place}: ${named.join(', ')}`,
    database,
    jobs: timed.map(({ job, next }) => ({ job: job.lock.job, nextScheduledAt: next })),
  };
}

function nextTimeOf({ expectation, configuration }: AdmittedJob, now: Date): Date | undefined {
  return configuration.enabled === false ? undefined : expectation.schedule?.next(now);
}

function describe(job: AdmittedJob, next: Date | undefined, now: Date): string {
  const { configuration, schedules = [] } = job;
  const [name, intervalMs] = [job.lock.job, intervalOf(schedules)];
  const schedule = schedules.find((each) => 'expression' in each);
  if (configuration.enabled === false) return `${name} (disabled)`;
  if (next !== undefined) return `${name} ${describeTime(next, now, schedule?.timeZone)}`;
  if (intervalMs !== undefined) return `${name} every ${intervalMs / 1000} s`;
  return schedule === undefined ? name : `${name} at '${schedule.expression}'`;
}

/** A near time counts from now. Another one is in the time zone of the schedule, or else in that of the host. */
function describeTime(next: Date, now: Date, timeZone = hostTimeZone()): string {
  const aheadMs = next.getTime() - now.getTime();
  if (aheadMs < HOUR_MS) return `${relative(new Date(now.getTime() + Math.max(1000, aheadMs)), now)}`;
  const [date, time = ''] = timeText(next, timeZone).split(' ');
  return `${aheadMs < DAY_MS ? '' : `on ${date} `}at ${time.slice(0, 5)} ${timeZone}`;
}
