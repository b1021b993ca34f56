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

/** One statement reads about so many runs of jobs that run once a day, and all together read at most so many. */
const [RUNS_A_READ, MOST_RUNS] = [2000, 100_000];
/** More than so many counts are never read. */
const MOST_COUNTS = 50_000;

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
  /** How late a run began, at most. */
  readonly delayMs?: number | undefined;
}

/** By date. */
export type Days = ReadonlyMap<string, Day>;

export interface DaysOfJobs {
  /** The earliest first. */
  readonly dates: readonly string[];
  readonly of: ReadonlyMap<string, Days>;
  /** There are older runs in this range. */
  readonly isCut: boolean;
}

/** Of a tick job, the runs of that day are deleted if there were any. */
export const NOT_KEPT = 'not kept';
export const TO_COME = 'to come';

/** The worst first. */
const STATES = ['failed', 'interrupted', 'missed', 'running', 'pending', 'skipped', 'completed', TO_COME];

interface DaysOptions {
  readonly days: number;
  /** Also keeps how late each run began. */
  readonly delayOf?: ((run: RunSummary) => number | undefined) | undefined;
}

/**
 * What these jobs did on the last days. The last date is today in UTC, or the next one if a job has a run on that. Reads the
 * runs of some days at a time, and counts all ticks with one statement.
 */
export async function readDays(
  known: JobCatalog,
  jobs: readonly JobOverview[],
  { days, delayOf }: DaysOptions,
): Promise<DaysOfJobs> {
  const { store } = known.context;
  const today = dayIn(known.now.getTime(), 'UTC');
  // A business date can begin a day before or after the date in UTC.
  const range = { from: new Date((today - days) * DAY_MS), to: new Date((today + 2) * DAY_MS) };
  const isTick = ({ job }: JobOverview): boolean => known.get(job)?.declared.kind === 'tick';
  const [ticks, others] = [jobs.filter(isTick), jobs.filter((job) => !isTick(job))];
  const runs = await readRuns(known, others, range);
  const counts =
    ticks.length > 0 ? await store.counts({ jobs: namesOf(ticks), ...range }, limitOf(known.context)) : [];
  const [runsOf, countsOf] = [byJob(runs), byJob(counts)];
  const of = new Map<string, Map<string, Day>>();
  for (const job of jobs) {
    await turn();
    const row = isTick(job)
      ? daysOfTicks(known, job, countsOf.get(job.job) ?? [])
      : await daysOf(known, job, { runs: runsOf.get(job.job) ?? [], delayOf });
    of.set(job.job, row);
  }
  const hasNext = [...of.values()].some((row) => (row.get(dateOf(today + 1))?.state ?? TO_COME) !== TO_COME);
  const first = today - days + (hasNext ? 2 : 1);
  for (const row of of.values()) for (const date of row.keys()) if (date < dateOf(first)) row.delete(date);
  return {
    dates: Array.from({ length: days }, (_, index) => dateOf(first + index)),
    of,
    isCut: runs.length >= MOST_RUNS || counts.length >= MOST_COUNTS,
  };
}

/** Some days at a time, the newest first. */
async function readRuns(
  { context }: JobCatalog,
  jobs: readonly JobOverview[],
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = [];
  const stepMs = Math.ceil(RUNS_A_READ / Math.max(1, jobs.length)) * DAY_MS;
  for (let end = to; end > from && jobs.length > 0 && runs.length < MOST_RUNS;) {
    const start = new Date(Math.max(from.getTime(), end.getTime() - stepMs));
    const query = { jobs: namesOf(jobs), from: start, to: end, limit: MOST_RUNS - runs.length };
    for (const run of await context.store.summaries(query, limitOf(context))) runs.push(run);
    await turn();
    end = start;
  }
  return runs;
}

function namesOf(jobs: readonly JobOverview[]): string[] {
  return jobs.map(({ job }) => job);
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

async function daysOf(
  known: JobCatalog,
  job: JobOverview,
  { runs, delayOf }: { readonly runs: readonly RunSummary[]; readonly delayOf: DaysOptions['delayOf'] },
): Promise<Map<string, Day>> {
  const days = new Map<string, Day>();
  for (const [index, run] of runs.entries()) {
    if (index % RUNS_A_READ === RUNS_A_READ - 1) await turn();
    const { state, periodKey: period, scope, attempt, generation } = run;
    const isRetried = attempt > 1 || generation > 0;
    const times = { tookMs: durationOf(run), delayMs: delayOf?.(run) };
    add(days, dateOfRun(run), { state, period, scope, isRetried, ...times });
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
function daysOfTicks(
  known: JobCatalog,
  { job, timeZone }: JobOverview,
  counts: readonly RunCount[],
): Map<string, Day> {
  const days = new Map<string, Day>();
  for (const { start, state, count, meanMs } of counts)
    add(days, dateIn(start, timeZone), { state, tookMs: meanMs }, count);
  const first = [...days.keys()].sort()[0];
  const declaredAt = known.get(job)?.declaredAt;
  if (first === undefined || declaredAt === undefined) return days;
  const since = Math.max(declaredAt.getTime(), known.now.getTime() - 366 * DAY_MS);
  for (let day = dayIn(since, timeZone); dateOf(day) < first; day += 1)
    add(days, dateOf(day), { state: NOT_KEPT });
  return days;
}

/** A worse state replaces the one of the day. */
function add(days: Map<string, Day>, date: string, run: Omit<Day, 'tally'>, count = 1): void {
  const found = days.get(date);
  const tally = new Map(found?.tally).set(run.state, (found?.tally.get(run.state) ?? 0) + count);
  const isWorse = found === undefined || STATES.indexOf(run.state) < STATES.indexOf(found.state);
  const tookMs = longer(found?.tookMs, run.tookMs);
  const delayMs = longer(found?.delayMs, run.delayMs);
  days.set(date, { ...(isWorse ? run : found), tally, tookMs, delayMs });
}

function longer(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

function dayIn(ms: number, timeZone: string): number {
  return dayAt(ms, { timeZone, dayStartMs: 0 });
}

function dateIn(instant: Date, timeZone = 'UTC'): string {
  return dateOf(dayIn(instant.getTime(), timeZone));
}

/** The business date for which a scheduled time counts. */
function dateDue(known: JobCatalog, { job, timeZone }: JobOverview, at: Date): string {
  const policy = known.policyOf(job);
  return (policy && knownPeriodAt(policy, at)?.businessDate) ?? dateIn(at, timeZone);
}

/** Keys of hours begin with their date. Weeks and months count for their first day. */
function dateOfRun({ periodKey, periodStart, createdAt, timeZone }: RunSummary): string {
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
