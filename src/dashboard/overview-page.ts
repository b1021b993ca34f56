import type { LockState } from '../core';
import type { JobOverview, JobRemark, Overview } from '../operations';
import { isOwnName } from '../core/lock-name';
import { instanceOf } from '../core/lease/owner';
import type { JobCatalog } from '../operations/job-catalog';
import { readDays, type DaysOfJobs } from '../operations/days';
import { expectedEnd, usualDurationOf } from '../operations/durations';
import { countsOf, countText, progressOf, shortDuration, stateOfLock } from '../operations/state-texts';
import { lifeOf } from '../operations/why';
import { mayChange } from '../ledger/run-state';
import { nextHours, scheduleWords } from './next-hours';
import { actButton, formId, remedyButton } from './forms';
import { daysPicture, durationsOf, gridCells, legend } from './grid';
import {
  capital,
  card,
  current,
  eachInTurn,
  linkTo,
  periodText,
  pill,
  timeOf,
  tokenOf,
  type Html,
  type Page,
} from './parts';
import { html } from './vendor';
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
  ${known ? await nextHours(view, known, jobs) : ''} ${await jobsCard(view, { jobs, known, days, page })}
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
  return html`${[...new Set(states)].map((state) => {
    const link = linkTo({ days: query.get('days') ?? '', state: state === chosen ? '' : state });
    const count = states.filter((each) => each === state).length;
    return html`<a class="stat ${tokenOf(state)[0]}" href="${link}" ${current(state === chosen)}
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
  const [more, moreLocks] = [running.length - MOST_RUNNING, locks.length - MOST_RUNNING];
  const lockRow = (lock: LockState): Html =>
    html`<p class="bar">
      ${pill(stateOfLock(lock)[0])}
      <a href="${linkTo({ lock: lock.name })}"><strong>${lock.name}</strong></a>
      <span class="mute">a lock of no known job, ${stateOfLock(lock)[1]}</span>
    </p>`;
  const body = html`${await Promise.all(rows)} ${more > 0 ? html`<p>${countText(more, 'more job')}</p>` : ''}
  ${locks.slice(0, MOST_RUNNING).map(lockRow)}
  ${moreLocks > 0 ? html`<p><a href="?locks=held">${countText(moreLocks, 'more lock')}</a></p>` : ''}`;
  return card('Running', body);
}

/** Who runs it, since when, how far it is, and how long it will still take. */
async function runningRow(view: View, job: JobOverview, known: JobCatalog | undefined): Promise<Html> {
  const { lock, running, lastRun } = job;
  const holders = lock ? [lock.lockedBy] : running.map(({ claimedBy = '' }) => claimedBy);
  const startedAt = running[0]?.startedAt ?? lock?.lockedAt ?? lastRun?.startedAt;
  const { renewedAt } = lock ? lifeOf(lock, known?.get(job.job), view.now) : {};
  const passedMs = startedAt ? Math.max(0, view.now.getTime() - startedAt.getTime()) : 0;
  const usual = () => view.reads.read(`usual ${job.job}`, () => usualDurationOf(known, job.job));
  const { share, leftMs, usualMs } = await expectedEnd(job, passedMs, usual);
  const late = usualMs === undefined ? '' : `longer than usual: ${shortDuration(usualMs)}`;
  const minutes = Math.ceil((leftMs ?? 0) / 60_000);
  const left = leftMs === undefined ? late : `about ${shortDuration(minutes * 60_000)} left`;
  return html`<div class="bar">
    <a href="${linkTo({ job: job.job })}"><strong>${job.job}</strong></a>
    <span class="mute"
      >${[...new Set(holders.map(instanceOf))].join(', ')} · started
      ${timeOf(startedAt, view)}${renewedAt ? html` · lease renewed ${timeOf(renewedAt, view)}` : ''}</span
    >
    ${share === undefined ? '' : html`<progress value="${Math.round(share * 100)}" max="100" aria-label="How far ${job.job} is"></progress>`}
    <span>${[progressOf(job.running).trim(), left].filter(Boolean).join(' · ')}</span>
  </div>`;
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
  const grid = await view.reads.read(
    `grid ${days} ${JSON.stringify(shown.map(({ job }) => job).sort())}`,
    async () => (known ? await readDays(known, shown, { days }) : undefined),
  );
  const link = (to: { readonly days: number; readonly page?: number }, words: string, is: boolean): Html =>
    html`<a href="${linkTo({ state, q: text, ...to })}" ${current(is)}>${words}</a>`;
  const ranges = RANGES.map((range) => link({ days: range }, `${range} d`, range === days));
  const pages = Array.from({ length: Math.ceil(found.length / JOBS) }, (_, index) =>
    link({ days, page: index + 1 }, `Page ${index + 1}`, index + 1 === page),
  );
  const filter = html`${found.length < jobs.length ? html`<span class="mute">${found.length} of ${jobs.length}</span>` : ''}
    <form class="filter" role="search">
      <input type="search" name="q" value="${text}" placeholder="Filter jobs" aria-label="Filter jobs" />
      <input type="hidden" name="days" value="${days}" /><input type="hidden" name="state" value="${state}" />
      <nav aria-label="Days">${ranges}</nav>
    </form>`;
  const body = html`${known ? '' : html`<p>This guard keeps no runs, so only its locks are known.</p>`}
  ${grid?.isCut ? html`<p class="mute">Older runs of this range are left out.</p>` : ''}
  ${shown.length > 0 ? await jobTable(view, { jobs: shown, known, grid }) : jobs.length > 0 ? html`<p class="mute">No job matches.</p>` : ''}
  ${pages.length < 2 ? '' : html`<p class="btns">${pages}</p>`}`;
  return card('Jobs', body, filter);
}

interface JobTable extends Pick<JobsCard, 'jobs' | 'known'> {
  readonly grid: DaysOfJobs | undefined;
}

/** The script moves the focus from cell to cell by the arrow keys. */
async function jobTable(view: View, { jobs, known, grid }: JobTable): Promise<Html> {
  const dates = grid?.dates ?? [];
  const isFew = dates.length <= 31;
  const rows = await eachInTurn(jobs, ({ job, state, running, nextScheduledAt }) => {
    // The jobs can have changed since the grid was read.
    const days = grid?.of.get(job) ?? new Map<string, never>();
    const declared = known?.get(job)?.declared;
    const words = [
      scheduleWords(declared),
      declared?.kind === 'lock' && 'only a lock: its runs are not recorded',
    ];
    const picture = days.size > 0 && html`<a href="${linkTo({ job })}">${daysPicture(dates, days)}</a>`;
    return html`<tr>
      <th scope="row">
        <a href="${linkTo({ job })}">${job}</a>
        <small
          >${state === 'ok' ? '' : pill(state, state === 'running' ? progressOf(running) : '')}
          ${words.filter(Boolean).join(' · ')}</small
        >
      </th>
      ${isFew ? gridCells(job, dates, days) : html`<td>${picture}</td>`}
      <td class="took mute">${durationsOf(dates, days)}</td>
      <td class="next mute">${state === 'paused' ? 'paused' : timeOf(nextScheduledAt, view)}</td>
    </tr>`;
  });
  return html`<div class="scroll">
      <table class="grid ${isFew ? 'days' : ''}" id="grid">
        <thead>
          <tr>
            <th scope="col">Job</th>
            ${isFew ? dates.map(headOf) : html`<th scope="col">${dates[0]} to ${dates.at(-1)}</th>`}
            <th scope="col" class="took">Took</th>
            <th scope="col" class="next">Next</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
    ${isFew && grid ? legend() : ''}`;
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** A day, with its month if that is new. */
function headOf(date: string, index: number, dates: readonly string[]): Html {
  const isNamed = date.endsWith('-01') || (index === 0 && dates[1]?.endsWith('-01') === false);
  const month = isNamed ? html`<strong>${MONTHS[Number(date.slice(5, 7)) - 1]}</strong><br />` : '';
  const isWeekend = new Date(date).getUTCDay() % 6 === 0;
  return html`<th scope="col" abbr="${date}" class="${isWeekend ? 'we' : ''}">
    ${month}${Number(date.slice(8))}
  </th>`;
}
