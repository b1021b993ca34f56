import type { JobOverview, JobRemark, Overview } from '../operations';
import { isOwnName } from '../core/lock-name';
import { instanceOf } from '../core/lease/owner';
import type { JobCatalog } from '../operations/job-catalog';
import { countsOf, countText, progressOf, stateOfLock } from '../operations/state-texts';
import { lifeOf } from '../operations/why';
import { mayChange } from '../ledger/run-state';
import { nextHours, scheduleWords } from './next-hours';
import { actButton, formId, remedyButton } from './forms';
import { daysPicture, durationsOf, eachInTurn, gridCells, readGrid, todayOf, type Grid } from './grid';
import {
  capital,
  durationOf,
  linkTo,
  periodText,
  pill,
  quantile,
  shortDuration,
  timeOf,
  tokenOf,
} from './parts';
import type { Html, Page } from './parts';
import { html, raw } from './vendor';
import { knownJobs, NotFoundError, overviewOf, type View } from './view';

const RANGES = [30, 90, 365];
const JOBS = 200;
const [MOST_REMARKS, MOST_RUNNING] = [20, 12];

/** What is wrong, what runs, what comes, and all jobs with their days. */
export async function overviewPage(given: View): Promise<Page> {
  const overview = await overviewOf(given);
  const view = { ...given, now: overview.now };
  const [days, page] = [Number(view.query.get('days') ?? RANGES[0]), Number(view.query.get('page') ?? 1)];
  if (!RANGES.includes(days) || !Number.isSafeInteger(page) || page < 1)
    throw new NotFoundError(`There are no jobs at page ${page} of ${days} days.`);
  const { jobs, problems, hasRegister } = overview;
  const known = await knownJobs(view);
  const remarks = [...problems.map((remark) => ({ job: undefined, remark })), ...jobs.flatMap(remarksOf)];
  const own = jobs.filter(({ job }) => !isOwnName(job)).map(({ state }) => state);
  const title =
    remarks.length > 0
      ? `${remarks.length} ${remarks.length === 1 ? 'needs' : 'need'} attention`
      : own.length > 0
        ? `${countText(own.length, 'job')}: nothing needs attention`
        : 'No jobs yet: start an instance';
  const bad = countsOf(
    own,
    own.filter((state) => ['failed', 'missed'].includes(tokenOf(state)[0])),
  );
  const body = html`${attention(view, remarks)} ${await runningNow(view, overview, known)}
  ${known ? nextHours(view, known, jobs) : ''} ${await jobsCard(view, { jobs, known, days, page })}
  ${hasRegister || !known ? '' : html`<p>Without a register of jobs, only jobs with runs are shown. <code>npx cronlatch init</code> creates it.</p>`}`;
  return { title, tab: bad.length > 0 ? bad.join(', ') : title, beside: statesOf(view, own), body };
}

interface Remark {
  readonly job: string | undefined;
  readonly remark: JobRemark;
}

export function remarksOf({ job, problems, notes }: JobOverview): Remark[] {
  // A lock that is in use needs no act.
  return [...problems, ...notes.filter(({ kind }) => kind !== 'in use')].map((remark) => ({ job, remark }));
}

/** Each problem and note, with its buttons. */
export function attention(view: View, all: readonly Remark[]): Html {
  if (all.length === 0) return '';
  const more = all.length - MOST_REMARKS;
  return html`<ul class="list" aria-label="Needs attention">
      ${all.slice(0, MOST_REMARKS).map((remark) => remarkRow(view, remark))}
    </ul>
    ${more > 0 ? html`<p>${more} more are below, at their jobs.</p>` : ''}`;
}

function remarkRow(view: View, { job, remark }: Remark): Html {
  const { kind, brief, detail, remedy } = remark;
  const subject = remedy && 'job' in remedy.subject ? remedy.subject : { job };
  const canSkip = kind === 'failed' || kind === 'interrupted' ? mayChange(kind, 'skipped', 'skip') : false;
  return html`<li>
    ${pill(kind)}
    <div>
      ${
        job === undefined
          ? ''
          : html`<p>
              <a href="${linkTo(subject)}"><strong>${job}</strong></a>
              <span class="mute"
                >${'period' in subject && subject.period ? periodText(subject.period, view) : ''}</span
              >
            </p>`
      }
      <p>${job === undefined ? brief : capital(brief)}</p>
      ${detail === undefined ? '' : html`<p><code class="mute">${detail}</code></p>`}
    </div>
    <div class="btns">
      ${remedy ? remedyButton(view, remedy, job) : ''}
      ${canSkip ? actButton(view, 'skip', { hidden: { ...subject }, id: formId('skip', ...Object.values(subject)) }) : ''}
    </div>
  </li>`;
}

/** How many jobs have each state. Each is a filter. */
function statesOf({ query }: View, states: readonly string[]): Html {
  const chosen = query.get('state');
  return html`${countsOf(states, states).map((text) => {
    const [, count, state = ''] = /^(\d+) (.*)$/.exec(text) ?? [];
    const link = linkTo({ days: query.get('days') ?? '', state: state === chosen ? '' : state });
    const current = state === chosen ? raw('aria-current="true"') : '';
    return html`<a class="stat ${tokenOf(state)[0]}" href="${link}" ${current}
      >${capital(state)} ${count}</a
    >`;
  })}`;
}

async function runningNow(
  view: View,
  { jobs, locks = [] }: Overview,
  known: JobCatalog | undefined,
): Promise<Html> {
  const running = jobs.filter(({ state }) => state === 'running');
  if (running.length + locks.length === 0) return '';
  const rows = running.slice(0, MOST_RUNNING).map(async (job) => await runningRow(view, job, known));
  const more = running.length - MOST_RUNNING;
  return html`<section class="card">
    <h2>Running</h2>
    ${await Promise.all(rows)} ${more > 0 ? html`<p>${countText(more, 'more job')}</p>` : ''}
    ${locks.slice(0, MOST_RUNNING).map(
      (lock) =>
        html`<p class="bar">
          ${pill(stateOfLock(lock)[0])}
          <a href="${linkTo({ lock: lock.name })}"><strong>${lock.name}</strong></a>
          <span class="mute">a lock of no known job, ${stateOfLock(lock)[1]}</span>
        </p>`,
    )}
    ${locks.length > MOST_RUNNING ? html`<p><a href="?locks=held">${countText(locks.length - MOST_RUNNING, 'more lock')}</a></p>` : ''}
  </section>`;
}

/** Who runs it, since when, how far it is, and how long it will still take. */
async function runningRow(view: View, job: JobOverview, known: JobCatalog | undefined): Promise<Html> {
  const { lock, running, lastRun } = job;
  const holders = lock ? [lock.lockedBy] : running.map(({ claimedBy = '' }) => claimedBy);
  const startedAt = running[0]?.startedAt ?? lock?.lockedAt ?? lastRun?.startedAt;
  const { renewedAt } = lock ? lifeOf(lock, known?.get(job.job), view.now) : {};
  const passedMs = startedAt ? Math.max(0, view.now.getTime() - startedAt.getTime()) : 0;
  const { share, text } = await expectedEnd(view, { job, passedMs, known });
  return html`<div class="bar">
    <a href="${linkTo({ job: job.job })}"><strong>${job.job}</strong></a>
    <span class="mute"
      >${[...new Set(holders.map(instanceOf))].join(', ')} · started
      ${timeOf(startedAt, view)}${renewedAt ? html` · lease renewed ${timeOf(renewedAt, view)}` : ''}</span
    >
    ${share === undefined ? '' : html`<progress value="${Math.round(share * 100)}" max="100" aria-label="How far ${job.job} is"></progress>`}
    <span>${text}</span>
  </div>`;
}

const FEWEST_RUNS = 5;

/** By the rate of its progress, or else by the middle one of its last 20 completed runs. */
async function expectedEnd(
  { reads }: View,
  of: { readonly job: JobOverview; readonly passedMs: number; readonly known: JobCatalog | undefined },
): Promise<{ readonly share?: number; readonly text: string }> {
  const { job, passedMs, known } = of;
  const { done = 0, total = 0 } = job.running.find((run) => run.done !== undefined) ?? {};
  const progress = progressOf(job.running).trim();
  const left = (ms: number): string =>
    `${progress ? `${progress} · ` : ''}about ${shortDuration(Math.ceil(ms / 60_000) * 60_000)} left`;
  if (total > 0 && done > 0)
    return { share: Math.min(1, done / total), text: left(Math.max(0, (passedMs * (total - done)) / done)) };
  const query = { job: job.job, states: ['completed'], limit: 20 } as const;
  const runs = await reads.read(`last ${job.job}`, async () => (await known?.ledger.list(query)) ?? []);
  const took = runs.flatMap((run) => durationOf(run) ?? []);
  if (took.length < FEWEST_RUNS) return { text: progress };
  const usual = quantile(took);
  if (passedMs > usual) return { share: 1, text: `longer than usual: ${shortDuration(usual)}` };
  return { share: passedMs / Math.max(usual, 1), text: left(usual - passedMs) };
}

interface JobsCard {
  readonly jobs: readonly JobOverview[];
  readonly known: JobCatalog | undefined;
  readonly days: number;
  readonly page: number;
}

/** All jobs, or those that the filters leave. */
async function jobsCard(view: View, { jobs, known, days, page }: JobsCard): Promise<Html> {
  const [state, text] = [view.query.get('state') ?? '', view.query.get('q')?.trim() ?? ''];
  const found = jobs.filter(
    (job) => (state === '' || job.state === state) && job.job.toLowerCase().includes(text.toLowerCase()),
  );
  const shown = found.slice((page - 1) * JOBS, page * JOBS);
  if (page > 1 && shown.length === 0) throw new NotFoundError(`There is no page ${page}.`);
  const grid = await view.reads.read(`grid ${days} ${page} ${state} ${text}`, async () =>
    known ? await readGrid(known, shown, { last: todayOf(known), days }) : undefined,
  );
  const current = (is: boolean): Html => (is ? raw('aria-current="true"') : '');
  const ranges = RANGES.map(
    (range) =>
      html`<a href="${linkTo({ days: String(range), state, q: text })}" ${current(range === days)}
        >${range} d</a
      >`,
  );
  const pages = Array.from({ length: Math.ceil(found.length / JOBS) }, (_, index) => String(index + 1));
  return html`<section class="card">
    <div class="bar">
      <h2>Jobs</h2>
      ${found.length < jobs.length ? html`<span class="mute">${found.length} of ${jobs.length}</span>` : ''}
      <form class="filter" role="search">
        <input type="search" name="q" value="${text}" placeholder="Filter jobs" aria-label="Filter jobs" />
        <input type="hidden" name="days" value="${days}" /><input
          type="hidden"
          name="state"
          value="${state}"
        />
        <nav aria-label="Days">${ranges}</nav>
      </form>
    </div>
    ${known ? '' : html`<p>This guard keeps no runs, so only its locks are known.</p>`}
    ${grid?.isCut ? html`<p class="mute">Older runs of this range are left out.</p>` : ''}
    ${shown.length === 0 ? '' : await jobTable(view, { jobs: shown, known, grid })}
    ${pages.length < 2 ? '' : html`<p class="btns">${pages.map((number) => html`<a href="${linkTo({ days: String(days), state, q: text, page: number })}" ${current(Number(number) === page)}>Page ${number}</a>`)}</p>`}
  </section>`;
}

interface JobTable extends Pick<JobsCard, 'jobs' | 'known'> {
  readonly grid: Grid | undefined;
}

/** The script moves the focus from cell to cell by the arrow keys. */
async function jobTable(view: View, { jobs, known, grid }: JobTable): Promise<Html> {
  const dates = grid?.dates ?? [];
  const isFew = dates.length <= 31;
  // The order of the jobs can have changed since the grid was read.
  const cellsOf = new Map(grid?.rows.map(({ job, cells }) => [job, cells]));
  const rows = await eachInTurn(jobs, (job) => {
    const cells = cellsOf.get(job.job) ?? new Map<string, never>();
    const kind = known?.get(job.job)?.declared.kind;
    const days =
      kind === 'lock' && cells.size === 0
        ? html`<td colspan="${isFew ? dates.length : 1}" class="mute">
            only a lock: its runs are not recorded
          </td>`
        : isFew
          ? gridCells(job.job, dates, cells)
          : html`<td><a href="${linkTo({ job: job.job })}">${daysPicture(dates, cells)}</a></td>`;
    return html`<tr>
      <th scope="row">
        <a href="${linkTo({ job: job.job })}">${job.job}</a>
        <small
          >${job.state === 'ok' ? '' : pill(job.state, job.state === 'running' ? progressOf(job.running) : '')}
          ${scheduleWords(known?.get(job.job)?.declared)}</small
        >
      </th>
      ${grid ? days : ''}
      <td class="took mute">${durationsOf(dates, cells)}</td>
      <td class="next mute">${job.state === 'paused' ? 'paused' : timeOf(job.nextScheduledAt, view)}</td>
    </tr>`;
  });
  return html`<div class="scroll">
    <table class="grid ${isFew ? 'days' : ''}" id="grid">
      <thead>
        ${
          isFew
            ? headOf(dates)
            : html`<tr>
                <th scope="col">Job</th>
                <th scope="col">${dates[0]} to ${dates.at(-1)}</th>
                <th scope="col" class="took">Took</th>
                <th scope="col" class="next">Next</th>
              </tr>`
        }
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

function headOf(dates: readonly string[]): Html {
  const [first = ''] = dates;
  const dayOf = (date: string): Html => {
    const weekday = new Date(date).getUTCDay();
    const month = MONTHS[Number(date.slice(5, 7)) - 1];
    const isNamed = date === first || date.endsWith('-01');
    return html`<th scope="col" abbr="${date}" class="${weekday % 6 === 0 ? 'we' : ''}">
      ${isNamed ? html`<strong>${month}</strong><br />` : ''}${Number(date.slice(8))}
    </th>`;
  };
  return html`<tr>
    <th scope="col">Job</th>
    ${dates.map(dayOf)}
    <th scope="col" class="took">Took</th>
    <th scope="col" class="next">Next</th>
  </tr>`;
}
