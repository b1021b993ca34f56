/**
 * What is expected of a job: when it is due, whether it is late, and which periods it has missed. The guard, the commands,
 * the dashboard, the metrics and the notices all ask here. Reads nothing but calendars.
 */
import { InvalidLockConfigurationError, type LockState } from '../core';
import { DAY_MS } from '../core/duration';
import { readHold } from '../core/lease/hold-owner';
import { declaredPolicy, type DeclaredJob, type RegisteredJob } from './job-register';
import { BoundedCache } from './periods/bounded-cache';
import { askCalendar, everyDay, type CalendarAnswer } from './periods/calendar';
import {
  nextPeriod,
  periodAt,
  periodsBetween,
  type CalendarPeriod,
  type CalendarPeriodOptions,
  type Period,
  type PeriodOptions,
} from './periods/period';
import { intervalOf, Schedule } from './periods/schedule';
import { calendarPeriodsOf, type JobPolicy } from './policy/job-policy';
import type { RunSummary } from './run';
import type { Peek } from './run-store';
import type { LedgerContext } from './store-statements';

type Periods = CalendarPeriodOptions & PeriodOptions;

export interface Expectation {
  /** `undefined`: each period of the calendar is expected. */
  readonly schedule?: Schedule | undefined;
  /** No earlier time is expected. `undefined`: the database has no register. */
  readonly declaredAt?: Date | undefined;
}

/** Of a job that is not registered yet, or only by an older version: until it is, nothing is expected. */
export const NEVER = new Date(8.64e15);

export interface PeriodicJob {
  readonly policy: JobPolicy;
  readonly expectation: Expectation;
}

/** By their declaration. Each read of the register makes a new one. */
const schedules = new BoundedCache<Schedule | undefined>(5000);

/** The schedule of a registered job. One that cannot be read here expects nothing: its instance has reported that. */
export function scheduleOf({ schedules: declared }: Pick<DeclaredJob, 'schedules'>): Schedule | undefined {
  return schedules.get(JSON.stringify(declared), () => {
    try {
      return Schedule.of(declared);
    } catch (error) {
      if (error instanceof InvalidLockConfigurationError) return Schedule.UNKNOWN;
      throw error;
    }
  });
}

export function expectationOf({ declared, declaredAt = NEVER }: RegisteredJob): Expectation {
  return { schedule: scheduleOf(declared), declaredAt };
}

/** The time whose ticks count for a period. */
function timeOf(period: CalendarPeriod, periods: Periods): CalendarPeriod {
  return periods.target === 'previous' ? nextPeriod(period, periods) : period;
}

/** The expected periods that lie, wholly or in part, in the time from `from` until `to`. The earliest comes first. */
export function expectedPeriods(
  { schedule, declaredAt = new Date(0) }: Expectation,
  periods: Periods,
  { from, to }: { readonly from: Date; readonly to: Date },
): CalendarPeriod[] {
  return periodsBetween(from, to, periods).filter((period) => {
    const { start, end } = timeOf(period, periods);
    if (declaredAt >= end) return false;
    if (schedule === undefined) return true;
    return schedule.firstIn({ start: start > declaredAt ? start : declaredAt, end }) !== undefined;
  });
}

/**
 * The expected periods without a row, before that of a tick that comes now: after the first recorded one, or since the job was
 * declared. The calendar is not asked.
 */
export function periodsWithoutRun(
  expectation: Expectation,
  periods: Periods,
  { now, runs, firstPeriodStart: first }: Peek,
  from: Date,
): CalendarPeriod[] {
  const since = first ?? expectation.declaredAt;
  if (since === undefined || since > now) return [];
  const recorded = new Set(runs.map(({ periodKey }) => periodKey));
  const earliest = periodAt(since, periods).start;
  const range = { from: from > earliest ? from : earliest, to: periodAt(now, periods).start };
  // Without a schedule, a period in which the job was declared may have had its tick before.
  const mayBeFirst = first === undefined && expectation.schedule !== undefined;
  return expectedPeriods(expectation, periods, range).filter(
    ({ key, start }) => (mayBeFirst || start > since) && !recorded.has(key),
  );
}

/** `undefined` for a key function, which may fail. */
export function knownPeriodAt({ period, periodAt: ofJob }: JobPolicy, at: Date): Period | undefined {
  return typeof period.kind === 'function' ? undefined : ofJob(at);
}

/**
 * Whether the newest scheduled time of a job, which no tick has answered, may still run: it is expected, and the period in which
 * it lies has not ended.
 */
export function mayBeMadeUp(
  { policy, expectation: { schedule, declaredAt = NEVER } }: PeriodicJob,
  at: Date,
  { now, firstPeriodStart: first }: Pick<Peek, 'now'> & Partial<Peek>,
): boolean {
  if (schedule === undefined || at <= declaredAt) return false;
  const start = knownPeriodAt(policy, at)?.start;
  if (first !== undefined && start !== undefined && start <= first) return false;
  const periods = calendarPeriodsOf(policy);
  const end = periods ? periodAt(at, { ...periods, target: 'current' }).end : schedule.next(at);
  return end === undefined || end > now;
}

const WEEK_MS = 7 * DAY_MS;

/** The expected periods whose absence is reported: those whose last time was at most a week ago, and the newest one. */
export function watchedPeriods(expectation: Expectation, periods: Periods, now: Date): CalendarPeriod[] {
  const { schedule, declaredAt } = expectation;
  const lastTime = (end: Date): Date | undefined => {
    const last = new Date(end.getTime() - 1);
    return schedule === undefined ? last : schedule.previous(last);
  };
  const to = periodAt(now, periods).start;
  const newest = lastTime(periodAt(now, { ...periods, target: 'current' }).start);
  if (newest === undefined || (declaredAt !== undefined && newest <= declaredAt)) return [];
  const weekAgo = new Date(now.getTime() - WEEK_MS);
  const from = periodAt(newest < weekAgo ? newest : weekAgo, periods).start;
  return expectedPeriods(expectation, periods, { from, to }).filter((period) => {
    const last = lastTime(timeOf(period, periods).end);
    return last !== undefined && (last >= weekAgo || last >= newest);
  });
}

/**
 * Whether a job runs for a period. One that is longer than a day has the dates of its scheduled times after `after`, and one
 * business day is enough.
 */
export async function askForPeriod(
  context: LedgerContext,
  { policy: { calendar, period: options }, expectation: { schedule } }: PeriodicJob,
  period: CalendarPeriod,
  after = new Date(timeOf(period, options as Periods).start.getTime() - 1),
): Promise<CalendarAnswer> {
  if (calendar === everyDay) return 'business-day';
  if (!isLongerThanADay(options)) return await askCalendar(calendar, period.businessDate, context);
  if (schedule === undefined) return 'business-day';
  const { end } = timeOf(period, options as Periods);
  for (let at = schedule.next(after); at !== undefined && at < end;) {
    const day = dayAround(at, options);
    const answer = await askCalendar(calendar, day.businessDate, context);
    if (answer !== 'holiday') return answer;
    at = schedule.next(new Date(day.end.getTime() - 1));
  }
  return 'holiday';
}

export function isLongerThanADay({ kind }: PeriodOptions): boolean {
  return typeof kind === 'string' && !['tick', 'hour', 'day'].includes(kind);
}

export function dayAround(at: Date, options: PeriodOptions): CalendarPeriod {
  return periodAt(at, { ...options, kind: 'day', target: 'current' });
}

/** The default of `lateAfter`. */
export const LATE_AFTER_MS = 300_000;

export function nextTimeOf({ declared }: RegisteredJob, now: Date): Date | undefined {
  return declared.disabled === 'job' ? undefined : scheduleOf(declared)?.next(now);
}

/**
 * Whether its lock keeps a job from being late: it is paused, or has only a lock, and runs. A running job with a ledger has the
 * run of its period instead.
 */
export function isHeldBack(
  { declared }: Pick<RegisteredJob, 'declared'>,
  lock: LockState | undefined,
): boolean {
  return lock?.isHeld === true && (declared.kind === 'lock' || readHold(lock.lockedBy) !== undefined);
}

/**
 * The newest scheduled time that passed longer ago than `lateAfterMs` and that no instance has answered. A run of its period,
 * or of a later one, answers it.
 *
 * @param runs of the job: at least the newest of each scope
 */
export function lateTime(
  { job, declared, declaredAt, answeredAt = new Date(0) }: RegisteredJob,
  runs: readonly RunSummary[],
  { now, lateAfterMs, lock }: { now: Date; lateAfterMs: number; lock?: LockState | undefined },
): Date | undefined {
  if (declared.disabled === 'job' || declaredAt === undefined || isHeldBack({ declared }, lock))
    return undefined;
  const before = new Date(now.getTime() - lateAfterMs);
  const every = intervalOf(declared.schedules);
  if (every !== undefined) {
    const started = runs.map(({ startedAt, createdAt }) => (startedAt ?? createdAt).getTime());
    const due = Math.max(declaredAt.getTime(), answeredAt.getTime(), ...started) + every;
    return due <= before.getTime() ? new Date(due) : undefined;
  }
  const due = scheduleOf(declared)?.previous(before);
  if (due === undefined || due <= declaredAt || due <= answeredAt) return undefined;
  const { start } = declaredPolicy({ job, declared })?.periodAt(due) ?? {};
  const isAnswered = ({ state, periodStart, finishedAt }: RunSummary): boolean => {
    if (start !== undefined && periodStart !== undefined && periodStart >= start) return true;
    return declared.kind === 'tick' && isRunningAt(due, { state, finishedAt });
  };
  return runs.some(isAnswered) ? undefined : due;
}

/** Whether a run was running at the time of a tick, or has started later. As with a lock alone, the tick is answered then. */
export function isRunningAt(
  tick: Date,
  { state, finishedAt }: Pick<RunSummary, 'state' | 'finishedAt'>,
): boolean {
  return state === 'running' || (finishedAt !== undefined && finishedAt > tick);
}
