/** What the jobs did on each date. */
import { setImmediate as turn } from 'node:timers/promises';
import { DAY_MS } from '../core/duration';
import type { RunSummary } from '../ledger';
import { askForPeriod, knownPeriodAt, periodsWithoutRun } from '../ledger/expected';
import { dateOf, dayAt } from '../ledger/periods/business-date';
import type { CalendarPeriod } from '../ledger/periods/period';
import { calendarPeriodsOf } from '../ledger/policy/job-policy';
import type { RunCount } from '../ledger/run';
import { limitOf } from '../ledger/store-statements';
import { durationOf } from './durations';
import type { JobCatalog } from './job-catalog';
import type { JobOverview } from './overview';

/** So many runs are read at most. */
const MOST_RUNS = 50_000;
/** After so many rows, other work of the process has its turn. */
const ROWS_A_TURN = 20;

/** What one job did on one date. */
export interface Day {
  /** The worst one. */
  readonly state: string;
  /** The key of the run in that state. */
  readonly period?: string | undefined;
  readonly scope?: string | undefined;
  readonly isRetried?: boolean | undefined;
  /** How many runs have each state. */
  readonly tally: ReadonlyMap<string, number>;
  /** The longest run that has ended. Of ticks, the mean of their slowest quarter of an hour. */
  readonly tookMs?: number | undefined;
}

/** By date. */
export type Days = ReadonlyMap<string, Day>;

export interface DaysOfJobs {
  /** The earliest first. */
  readonly dates: readonly string[];
  readonly of: ReadonlyMap<string, Days>;
  /** Without those of ticks. The newest period first. */
  readonly runs: readonly RunSummary[];
  /** There are older runs in this range. */
  readonly isCut: boolean;
}

/** Of a tick job, the runs of that day have been deleted. */
export const NOT_KEPT = 'not kept';
export const TO_COME = 'to come';

/** The worst first. */
const STATES = ['failed', 'interrupted', 'missed', 'running', 'pending', 'skipped', 'completed', TO_COME];

/** Calls a function for each, and gives way between. */
export async function eachInTurn<T, R>(all: readonly T[], one: (each: T) => R): Promise<Awaited<R>[]> {
  const results: Awaited<R>[] = [];
  for (const [index, each] of all.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await turn();
    results.push(await one(each));
  }
  return results;
}

/**
 * Reads the runs of these jobs of the last days: one statement for the runs of periods, and one that counts the ticks. The last
 * date is today in UTC, or the next one if a job has a run on that.
 */
export async function readDays(
  known: JobCatalog,
  jobs: readonly JobOverview[],
  days: number,
): Promise<DaysOfJobs> {
  const { store } = known.context;
  const today = dayAt(known.now.getTime(), { timeZone: 'UTC', dayStartMs: 0 });
  // A business date can begin a day before or after the date in UTC.
  const range = { from: new Date((today - days) * DAY_MS), to: new Date((today + 2) * DAY_MS) };
  const isTick = (job: string): boolean => known.get(job)?.declared.kind === 'tick';
  const names = jobs.map(({ job }) => job);
  const [ticks, others] = [names.filter(isTick), names.filter((job) => !isTick(job))];
  const limit = limitOf(known.context);
  const [runs, counts] = await Promise.all([
    others.length > 0 ? store.summaries({ jobs: others, ...range, limit: MOST_RUNS }, limit) : [],
    ticks.length > 0 ? store.counts({ jobs: ticks, ...range }, limit) : [],
  ]);
  const [runsOf, countsOf] = [byJob(runs), byJob(counts)];
  const rows = await eachInTurn(jobs, async (job) =>
    isTick(job.job)
      ? daysOfTicks(known, job, countsOf.get(job.job) ?? [])
      : await daysOf(known, job, runsOf.get(job.job) ?? []),
  );
  const hasNext = rows.some((row) => (row.get(dateOf(today + 1))?.state ?? TO_COME) !== TO_COME);
  const first = today - days + (hasNext ? 2 : 1);
  return {
    dates: Array.from({ length: days }, (_, index) => dateOf(first + index)),
    of: new Map(names.map((job, index) => [job, rows[index] ?? new Map()])),
    runs,
    isCut: Math.max(runs.length, counts.length) >= MOST_RUNS,
  };
}

function byJob<T extends { readonly job: string }>(all: readonly T[]): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const each of all) {
    const ofJob = found.get(each.job);
    if (ofJob) ofJob.push(each);
    else found.set(each.job, [each]);
  }
  return found;
}

async function daysOf(known: JobCatalog, job: JobOverview, runs: readonly RunSummary[]): Promise<Days> {
  const days = new Map<string, Day>();
  for (const run of runs) {
    const { state, periodKey: period, scope, attempt, generation } = run;
    const isRetried = attempt > 1 || generation > 0;
    add(days, dateOfRun(run), { state, period, scope, isRetried, tookMs: durationOf(run) });
  }
  const { lastRun, timeZone, nextScheduledAt } = job;
  if (runs.length === 0 && lastRun?.startedAt)
    add(days, dateIn(lastRun.startedAt, timeZone), { state: lastRun.state, period: lastRun.periodKey });
  const scope = known.get(job.job)?.declared.scope;
  for (const { key: period, businessDate } of await missedPeriods(known, job.job, runs))
    add(days, businessDate, { state: 'missed', period, scope });
  const next = nextScheduledAt && dateDue(known, job, nextScheduledAt);
  if (next && days.size > 0 && !days.has(next)) add(days, next, { state: TO_COME });
  return days;
}

/** The newest ticks of a job are kept. */
function daysOfTicks(known: JobCatalog, { job, timeZone }: JobOverview, counts: readonly RunCount[]): Days {
  const days = new Map<string, Day>();
  for (const { start, state, count, meanMs } of counts)
    add(days, dateIn(start, timeZone), { state, tookMs: meanMs }, count);
  const first = [...days.keys()].sort()[0];
  const declaredAt = known.get(job)?.declaredAt;
  if (first === undefined || declaredAt === undefined) return days;
  const yearAgo = known.now.getTime() - 366 * DAY_MS;
  for (let at = Math.max(declaredAt.getTime(), yearAgo); ; at += DAY_MS) {
    const date = dateIn(new Date(at), timeZone);
    if (date >= first) return days;
    add(days, date, { state: NOT_KEPT });
  }
}

/** A worse state replaces the one of the day. */
function add(days: Map<string, Day>, date: string, run: Omit<Day, 'tally'>, count = 1): void {
  const found = days.get(date);
  const tally = new Map(found?.tally).set(run.state, (found?.tally.get(run.state) ?? 0) + count);
  const took = [found?.tookMs, run.tookMs].filter((ms) => ms !== undefined);
  const isWorse = found === undefined || STATES.indexOf(run.state) < STATES.indexOf(found.state);
  const tookMs = took.length > 0 ? Math.max(...took) : undefined;
  days.set(date, { ...(isWorse ? run : found), tally, tookMs });
}

function dateIn(instant: Date, timeZone = 'UTC'): string {
  return dateOf(dayAt(instant.getTime(), { timeZone, dayStartMs: 0 }));
}

/** The business date for which a scheduled time counts. */
function dateDue(known: JobCatalog, { job, timeZone }: JobOverview, at: Date): string {
  const policy = known.knownPolicy(job);
  return (policy && knownPeriodAt(policy, at)?.businessDate) ?? dateIn(at, timeZone);
}

/** Keys of hours begin with their date. Weeks and months count for their first day. */
export function dateOfRun({ periodKey, periodStart, createdAt, timeZone }: RunSummary): string {
  return /^\d{4}-\d\d-\d\d/.exec(periodKey)?.[0] ?? dateIn(periodStart ?? createdAt, timeZone);
}

/** The expected periods without a run, since the first one that is shown. */
async function missedPeriods(
  known: JobCatalog,
  job: string,
  runs: readonly RunSummary[],
): Promise<CalendarPeriod[]> {
  const policy = known.knownPolicy(job);
  const periods = policy && calendarPeriodsOf(policy);
  const { declared } = known.get(job) ?? {};
  const from = runs.at(-1)?.periodStart;
  if (!policy || !periods || !from || declared?.hasScopeFunction !== false || declared.disabled === 'job')
    return [];
  const recorded = { now: known.now, runs, firstPeriodStart: from };
  const missed: CalendarPeriod[] = [];
  const expectation = known.expectationOf(job);
  for (const period of periodsWithoutRun(expectation, periods, recorded, from))
    if ((await askForPeriod(known.context, { policy, expectation }, period)) === 'business-day')
      missed.push(period);
  return missed;
}
