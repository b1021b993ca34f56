import { setImmediate as turn } from 'node:timers/promises';
import type { JobOverview } from '../operations';
import type { JobCatalog } from '../operations/job-catalog';
import type { RunCount } from '../ledger/run';
import type { RunSummary } from '../ledger';
import { askForPeriod, periodsWithoutRun } from '../ledger/expected';
import { dateOf, dayAt } from '../ledger/periods/business-date';
import type { CalendarPeriod } from '../ledger/periods/period';
import { calendarPeriodsOf } from '../ledger/policy/job-policy';
import { limitOf } from '../ledger/store-statements';
import { durationOf, linkTo, quantile, shortDuration, tokenOf, type Html } from './parts';
import { html, raw } from './vendor';

/** So many runs are read at most. */
const MOST_RUNS = 50_000;
const DAY_MS = 86_400_000;
/** After so many rows, other work of the process has its turn. */
const ROWS_A_TURN = 20;

/** What one job did on one date. */
interface Cell {
  /** The worst one. */
  readonly state: string;
  /** The key of the run in that state. */
  readonly period: string;
  readonly scope: string;
  readonly isRetried: boolean;
  /** How many runs have each state. */
  readonly tally: ReadonlyMap<string, number>;
  /** The longest run that has ended. Of ticks, the mean of their slowest quarter of an hour. */
  readonly tookMs: number | undefined;
}

export interface GridRow {
  readonly job: string;
  /** By date. */
  readonly cells: ReadonlyMap<string, Cell>;
}

export interface Grid {
  /** The earliest first. */
  readonly dates: readonly string[];
  readonly rows: readonly GridRow[];
  /** Without those of ticks. The newest period first. */
  readonly runs: readonly RunSummary[];
  /** There are older runs in this range. */
  readonly isCut: boolean;
}

const [NOT_KEPT, TO_COME] = ['not kept', 'to come'];

/** The worst first. */
const STATES = ['failed', 'interrupted', 'missed', 'running', 'pending', 'skipped', 'completed', 'to come'];

/** Today in UTC. */
export function todayOf({ now }: JobCatalog): number {
  return dayAt(now.getTime(), { timeZone: 'UTC', dayStartMs: 0 });
}

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
 * Reads the runs of these jobs: one statement for the runs of periods, and one that counts the ticks.
 *
 * @param last the last day, which follows one more if a job has a run on that
 */
export async function readGrid(
  known: JobCatalog,
  jobs: readonly JobOverview[],
  { last, days }: { readonly last: number; readonly days: number },
): Promise<Grid> {
  const { store } = known.context;
  // A business date can begin a day before or after the date in UTC.
  const range = { from: new Date((last - days) * DAY_MS), to: new Date((last + 2) * DAY_MS) };
  const isTick = ({ job }: JobOverview): boolean => known.get(job)?.declared.kind === 'tick';
  const [ticks, others] = [jobs.filter(isTick), jobs.filter((job) => !isTick(job))].map((all) =>
    all.map(({ job }) => job),
  );
  const limit = limitOf(known.context);
  const [runs, counts] = await Promise.all([
    others?.length ? store.summaries({ jobs: others, ...range, limit: MOST_RUNS }, limit) : [],
    ticks?.length ? store.counts({ jobs: ticks, ...range }, limit) : [],
  ]);
  const [runsOf, countsOf] = [byJob(runs), byJob(counts)];
  const rows = await eachInTurn(jobs, async (job) =>
    isTick(job)
      ? rowOfTicks(known, job, countsOf.get(job.job) ?? [])
      : await rowOf(known, job, runsOf.get(job.job) ?? []),
  );
  const hasNext = ({ cells }: GridRow): boolean =>
    (cells.get(dateOf(last + 1))?.state ?? TO_COME) !== TO_COME;
  const end = rows.some(hasNext) ? last + 1 : last;
  const dates = Array.from({ length: days }, (_, index) => dateOf(end - days + 1 + index));
  return { dates, rows, runs, isCut: Math.max(runs.length, counts.length) >= MOST_RUNS };
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

async function rowOf(known: JobCatalog, job: JobOverview, runs: readonly RunSummary[]): Promise<GridRow> {
  const cells = new Map<string, Cell>();
  for (const run of runs) addTo(cells, dateOfRun(run), partOf(run));
  const { lastRun, timeZone, nextScheduledAt } = job;
  if (runs.length === 0 && lastRun?.startedAt)
    addTo(cells, dateIn(lastRun.startedAt, timeZone), {
      state: lastRun.state,
      period: lastRun.periodKey ?? '',
    });
  const scope = known.get(job.job)?.declared.scope ?? '';
  for (const { key: period, businessDate } of await missedPeriods(known, job.job, runs))
    addTo(cells, businessDate, { state: 'missed', period, scope });
  const next = nextScheduledAt && dateIn(nextScheduledAt, timeZone);
  if (next && cells.size > 0 && !cells.has(next)) addTo(cells, next, { state: TO_COME });
  return { job: job.job, cells };
}

/** The newest ticks of a job are kept. */
function rowOfTicks(known: JobCatalog, { job, timeZone }: JobOverview, counts: readonly RunCount[]): GridRow {
  const cells = new Map<string, Cell>();
  for (const { start, state, count, meanMs } of counts)
    addTo(cells, dateIn(start, timeZone), { state, count, tookMs: meanMs });
  const first = [...cells.keys()].sort()[0];
  const declaredAt = known.get(job)?.declaredAt;
  if (first === undefined || declaredAt === undefined) return { job, cells };
  const yearAgo = known.now.getTime() - 366 * DAY_MS;
  for (let at = Math.max(declaredAt.getTime(), yearAgo); ; at += DAY_MS) {
    const date = dateIn(new Date(at), timeZone);
    if (date >= first) return { job, cells };
    addTo(cells, date, { state: NOT_KEPT });
  }
}

function dateIn(instant: Date, timeZone = 'UTC'): string {
  return dateOf(dayAt(instant.getTime(), { timeZone, dayStartMs: 0 }));
}

function partOf(run: RunSummary) {
  const { state, periodKey: period, scope, attempt, generation } = run;
  return { state, period, scope, isRetried: attempt > 1 || generation > 0, tookMs: durationOf(run) };
}

function addTo(
  cells: Map<string, Cell>,
  date: string,
  { state, count = 1, ...part }: Partial<Omit<Cell, 'state'>> & { state: string; count?: number },
): void {
  const found = cells.get(date);
  const tally = new Map(found?.tally).set(state, (found?.tally.get(state) ?? 0) + count);
  const tookMs = part.tookMs === undefined ? found?.tookMs : Math.max(found?.tookMs ?? 0, part.tookMs);
  const isWorse = found === undefined || STATES.indexOf(state) < STATES.indexOf(found.state);
  const { period = '', scope = '', isRetried = false } = isWorse ? part : found;
  cells.set(date, { state: isWorse ? state : found.state, period, scope, isRetried, tally, tookMs });
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

/** The runs to look at, the newest first, as links. */
export function toCheck({ job, cells }: GridRow): Html {
  const open = [...cells].filter(([, { state }]) => ['failed', 'interrupted', 'missed'].includes(state));
  return html`${open
    .sort()
    .reverse()
    .map(
      ([date, { state, period, scope }]) =>
        html`<a class="stat ${tokenOf(state)[0]}" href="${linkTo({ job, period, scope })}"
          >${state} ${date}</a
        > `,
    )}`;
}

/** In words: how many runs had which state. */
function wordsOf({ tally, isRetried, tookMs }: Cell): string {
  const [[state = '', count = 1] = [], ...more] = [...tally].sort(
    ([a], [b]) => STATES.indexOf(a) - STATES.indexOf(b),
  );
  const took = tookMs === undefined ? '' : `, ${shortDuration(tookMs)}`;
  if (more.length === 0 && count === 1)
    return `${state}${isRetried && state === 'completed' ? ' after a retry' : ''}${took}`;
  return `${[...tally].map(([each, times]) => `${times} ${each}`).join(', ')}${took}`;
}

/** One string, because a template for each of 9,000 cells takes most of the time of a page. */
export function gridCells(job: string, dates: readonly string[], cells: GridRow['cells']): Html {
  const [name, link] = [escaped(job), escaped(linkTo({ job }))];
  const cellOf = (date: string): string => {
    const cell = cells.get(date);
    if (cell === undefined) return '<td></td>';
    const { state, period, scope, isRetried } = cell;
    const label = `${name} ${date} ${wordsOf(cell)}`;
    if (state === NOT_KEPT) return `<td><span class="c gone" title="${label}"></span></td>`;
    if (state === TO_COME) return `<td><span class="c due" title="${label}"></span></td>`;
    const [token, symbol] = tokenOf(state);
    const isOk = state === 'completed';
    const more = [
      ['period', period],
      ['scope', scope],
    ].map(([key, value = '']) => (value === '' ? '' : `&amp;${key}=${encodeURIComponent(value)}`));
    return `<td><a class="c ${token}${isOk && isRetried ? ' retried' : ''}" href="${link}${more.join('')}" aria-label="${label}" title="${label}">${isOk ? '' : symbol}</a></td>`;
  };
  return raw(dates.map(cellOf).join(''));
}

/** Many days as one picture, with one text. */
export function daysPicture(dates: readonly string[], cells: GridRow['cells']): Html {
  const paths = new Map<string, string>();
  const daysOf = new Map<string, string[]>();
  for (const [index, date] of dates.entries()) {
    const { state, isRetried } = cells.get(date) ?? {};
    if (state === undefined || state === TO_COME) continue;
    const token =
      state === NOT_KEPT ? 'gone' : isRetried && state === 'completed' ? 'hold' : tokenOf(state)[0];
    paths.set(token, `${paths.get(token) ?? ''}M${index * 4} 0h3v24h-3z`);
    daysOf.set(state, [...(daysOf.get(state) ?? []), date]);
  }
  const texts = [...daysOf].map(([state, days]) => {
    const isFew = state !== 'completed' && state !== NOT_KEPT && days.length <= 5;
    return `${state} ${days.length}${isFew ? ` (${days.join(', ')})` : ''}`;
  });
  return html`<svg
    width="100%"
    height="24"
    viewBox="0 0 ${dates.length * 4} 24"
    preserveAspectRatio="none"
    role="img"
    aria-label="${texts.join(', ') || 'no runs'}"
  >
    ${[...paths].map(([token, path]) => html`<path class="${token}" d="${path}" />`)}
  </svg>`;
}

/** The durations of the last 30 dates, with the middle one. */
export function durationsOf(dates: readonly string[], cells: GridRow['cells']): Html {
  const took = dates.slice(-30).map((date) => cells.get(date)?.tookMs);
  const known = took.filter((ms) => ms !== undefined);
  if (known.length === 0) return '';
  const longest = Math.max(...known, 1);
  const bars = took.map((ms, index) => {
    const height = ms === undefined ? 0 : Math.max(1, Math.round((ms / longest) * 20));
    return height === 0 ? '' : `M${index * 3} 20v-${height}h2v${height}z`;
  });
  return html`<svg width="60" height="20" viewBox="0 0 90 20" preserveAspectRatio="none" aria-hidden="true">
      <path d="${bars.join('')}" />
    </svg>
    ${shortDuration(quantile(known))}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
