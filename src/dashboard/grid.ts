import type { JobOverview } from '../operations';
import type { JobCatalog } from '../operations/job-catalog';
import { stateCell } from '../operations/state-texts';
import type { RunSummary } from '../ledger';
import { askForPeriod, periodsWithoutRun } from '../ledger/expected';
import { dateOf, dayAt } from '../ledger/periods/business-date';
import type { CalendarPeriod } from '../ledger/periods/period';
import { calendarPeriodsOf } from '../ledger/policy/job-policy';
import { limitOf } from '../ledger/store-statements';
import { linkTo, type Html } from './parts';
import { html, raw } from './vendor';

/** So many runs are read at most. */
const MOST_RUNS = 50_000;
const DAY_MS = 86_400_000;

/** What one job did on one date. */
interface Cell {
  readonly state: string;
  /** The key of the run in the worst state. */
  readonly period: string;
  readonly scope: string;
  readonly count: number;
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
  /** The newest period first. */
  readonly runs: readonly RunSummary[];
  /** There are older runs in this range. */
  readonly isCut: boolean;
}

/** The worst first. */
const STATES: readonly string[] = [
  'failed',
  'interrupted',
  'missed',
  'running',
  'pending',
  'skipped',
  'completed',
];

/** Today in UTC. */
export function todayOf({ now }: JobCatalog): number {
  return dayAt(now.getTime(), { timeZone: 'UTC', dayStartMs: 0 });
}

/**
 * Reads the runs of these jobs with one statement. A store without `summaries` has none to show.
 *
 * @param last the last day, which follows one more if a job has a run on that
 */
export async function readGrid(
  known: JobCatalog,
  jobs: readonly JobOverview[],
  { last, days }: { readonly last: number; readonly days: number },
): Promise<Grid> {
  const { context } = known;
  // A business date can begin a day before or after the date in UTC.
  const from = new Date((last - days) * DAY_MS);
  const to = new Date((last + 2) * DAY_MS);
  const names = jobs.map(({ job }) => job);
  const query = { jobs: names, from, to, limit: MOST_RUNS };
  const runs = await context.store.summaries(query, limitOf(context));
  const runsOf = new Map<string, RunSummary[]>(names.map((name) => [name, []]));
  for (const run of runs) runsOf.get(run.job)?.push(run);
  const rows = await Promise.all(jobs.map((job) => rowOf(known, job, runsOf.get(job.job) ?? [])));
  const end = rows.some(({ cells }) => cells.has(dateOf(last + 1))) ? last + 1 : last;
  const dates = Array.from({ length: days }, (_, index) => dateOf(end - days + 1 + index));
  return { dates, rows, runs, isCut: runs.length === MOST_RUNS };
}

async function rowOf(known: JobCatalog, job: JobOverview, runs: readonly RunSummary[]): Promise<GridRow> {
  const cells = new Map<string, Cell>();
  for (const run of runs) addRun(cells, dateOfRun(run), run);
  const { lastRun, timeZone } = job;
  const startedAt = lastRun?.startedAt;
  if (runs.length === 0 && lastRun && startedAt)
    addRun(cells, dateOf(dayAt(startedAt.getTime(), { timeZone, dayStartMs: 0 })), lastRun);
  const scope = known.get(job.job)?.declared.scope ?? '';
  for (const { key: periodKey, businessDate } of await missedPeriods(known, job.job, runs))
    addRun(cells, businessDate, { state: 'missed', periodKey, scope });
  return { job: job.job, cells };
}

function addRun(
  cells: Map<string, Cell>,
  date: string,
  { state, periodKey: period = '', scope = '' }: { state: string; periodKey?: string; scope?: string },
): void {
  const found = cells.get(date);
  const count = (found?.count ?? 0) + 1;
  const isWorse = found === undefined || STATES.indexOf(state) < STATES.indexOf(found.state);
  cells.set(date, isWorse ? { state, period, scope, count } : { ...found, count });
}

/** Keys of hours begin with their date. Weeks and months count for their first day. */
function dateOfRun({ periodKey, periodStart, createdAt, timeZone = 'UTC' }: RunSummary): string {
  const date = /^\d{4}-\d\d-\d\d/.exec(periodKey)?.[0];
  return date ?? dateOf(dayAt((periodStart ?? createdAt).getTime(), { timeZone, dayStartMs: 0 }));
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
  if (!policy || !periods || !from || declared?.hasScopeFunction !== false) return [];
  const recorded = { now: known.now, runs, firstPeriodStart: from };
  const missed: CalendarPeriod[] = [];
  const expectation = known.expectationOf(job);
  for (const period of periodsWithoutRun(expectation, periods, recorded, from))
    if ((await askForPeriod(known.context, { policy, expectation }, period)) === 'business-day')
      missed.push(period);
  return missed;
}

/** A table of jobs and dates. The script moves the focus from cell to cell by the arrow keys. */
export function gridTable({ dates, rows }: Grid): Html {
  const months = monthsOf(dates);
  return html`<div class="scroll">
    <table class="grid" id="grid">
      <caption>
        Jobs and business days
      </caption>
      <thead>
        <tr>
          <th rowspan="2" scope="col">Job</th>
          <th rowspan="2" scope="col">To check</th>
          ${months.map(([month, length]) => html`<th colspan="${length}" scope="colgroup">${month}</th>`)}
        </tr>
        <tr>
          ${dates.map((date) => html`<th scope="col" abbr="${date}">${date.slice(8)}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map((row) => gridRow(row, dates))}
      </tbody>
    </table>
  </div>`;
}

function monthsOf(dates: readonly string[]): (readonly [string, number])[] {
  const months = new Map<string, number>();
  for (const date of dates) months.set(date.slice(0, 7), (months.get(date.slice(0, 7)) ?? 0) + 1);
  return [...months];
}

/** How many dates failed or have no run, on the screen or beside it. */
export function toCheck({ rows }: Grid): Html {
  const open = rows.flatMap(({ job, cells }) =>
    openCells(cells).map(([date, cell]) => ({ job, date, cell })),
  );
  const [first] = open;
  if (first === undefined) return '';
  const { job, date, cell } = first;
  const days = open.length === 1 ? '1 day' : `${open.length} days`;
  return html`<strong>To check: ${days}.</strong> The first is
    <a href="${linkOf(job, cell)}">${job} ${date}</a>.`;
}

const TO_CHECK: ReadonlySet<string> = new Set(['failed', 'interrupted', 'missed']);

function openCells(cells: GridRow['cells']): (readonly [string, Cell])[] {
  return [...cells].filter(([, { state }]) => TO_CHECK.has(state)).sort();
}

function gridRow({ job, cells }: GridRow, dates: readonly string[]): Html {
  const open = openCells(cells);
  const first = open[0];
  return html`<tr>
    <th scope="row"><a href="${linkTo({ job })}">${job}</a></th>
    <td>
      ${first ? html`<a href="${linkOf(job, first[1])}" title="The first is ${first[0]}">${open.length}</a>` : ''}
    </td>
    ${gridCells(job, dates, cells)}
  </tr>`;
}

/** One string, because a template for each of 9,000 cells takes most of the time of a page. */
export function gridCells(job: string, dates: readonly string[], cells: GridRow['cells']): Html {
  const [name, link] = [escaped(job), escaped(linkTo({ job }))];
  const cellOf = (date: string): string => {
    const cell = cells.get(date);
    if (cell === undefined) return '<td></td>';
    const { state, period, scope, count } = cell;
    const [tone, text] = stateCell(state);
    const label = `${name} ${date} ${state}${count > 1 ? `, the worst of ${count}` : ''}`;
    const more = [
      ['period', period],
      ['scope', scope],
    ].map(([key, value = '']) => (value === '' ? '' : `&amp;${key}=${encodeURIComponent(value)}`));
    return `<td><a class="${tone}" href="${link}${more.join('')}" aria-label="${label}" title="${label}">${text[0]}</a></td>`;
  };
  return raw(dates.map(cellOf).join(''));
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function linkOf(job: string, { period, scope }: Cell): string {
  return linkTo({ job, period, scope });
}
