import type { JobOverview, JobRemark, Overview } from '../operations';
import { instanceOf } from '../core/lease/owner';
import type { Remedy } from '../ledger/operator/remedy';
import { answerOf, progressOf, stateCell, stateOfLock } from '../operations/state-texts';
import { gridTable, readGrid, toCheck, todayOf } from './grid';
import { commandHint, linkTo, stateText, tableOf, timeOf, type Html, type Page } from './parts';
import { html } from './vendor';
import { knownJobs, NotFoundError, overviewOf, type View } from './view';

const RANGES = [30, 90, 365];
const JOBS = 100;

export async function overviewPage(given: View): Promise<Page> {
  const overview = await overviewOf(given);
  const view = { ...given, now: overview.now };
  const days = Number(view.query.get('days') ?? RANGES[0]);
  const page = Number(view.query.get('page') ?? 1);
  if (!RANGES.includes(days) || !Number.isSafeInteger(page) || page < 1)
    throw new NotFoundError('There is no such page.');
  const { jobs, hasRegister } = overview;
  const body = html`${problemsOf(overview)} ${runningNow(view, overview)}
    ${await gridOf(view, jobs, days, page)}
    ${hasRegister ? '' : html`<p>Without a register of jobs, only jobs with runs are shown. <code>npx cronlatch init</code> creates it.</p>`}
    <h2>Jobs</h2>
    ${jobTable(view, jobs.slice((page - 1) * JOBS, page * JOBS))}`;
  return { title: answerOf(jobs), body };
}

/** Each problem and note, with the place where it can be fixed. */
function problemsOf({ jobs, problems: ofAll }: Overview): Html {
  const ofJobs = jobs.flatMap(({ job, problems, notes }) =>
    [...problems, ...notes].map((remark) => ({ job, remark })),
  );
  const remarks = [...ofAll.map((remark) => ({ job: undefined, remark })), ...ofJobs];
  if (remarks.length === 0) return html`<p>${stateText('ok', ': no problems')}</p>`;
  return html`<ul class="problems" aria-label="Problems">
    ${remarks.map(({ job, remark }) => remarkOf(job, remark))}
  </ul>`;
}

export function remarkOf(job: string | undefined, { kind, text, remedy }: JobRemark): Html {
  const [tone, sign] = stateCell(kind);
  return html`<li class="${tone}">
    <span aria-hidden="true">${sign[0]}</span>
    ${job === undefined ? text : html`<a href="${fixOf(job, remedy)}">${text}</a>`} ${commandHint(remedy)}
  </li>`;
}

/** The page of what the remedy is about, at its form if it has that. */
function fixOf(job: string, remedy: Remedy | undefined): string {
  if (remedy === undefined) return linkTo({ job });
  const { verb, subject, values } = remedy;
  const { from, to } = values;
  const range = typeof from === 'string' && typeof to === 'string' ? { from, to } : {};
  return `${linkTo({ ...subject, ...range })}${verb === 'why' ? '' : `#${verb}`}`;
}

function runningNow(view: View, { jobs, locks = [] }: Overview): Html {
  const running = jobs.filter(({ state }) => state === 'running');
  if (running.length + locks.length === 0) return '';
  return html`<h2>Now</h2>
    <ul>
      ${running.map((job) => html`<li>${stateText('running', progressOf(job.running))} <a href="${linkTo({ job: job.job })}">${job.job}</a> ${holderOf(job)} ${timeOf(job.lastRun?.startedAt ?? job.lock?.lockedAt, view)}</li>`)}
      ${locks.slice(0, 20).map((lock) => html`<li>${stateText(stateOfLock(lock)[0])} <a href="${linkTo({ lock: lock.name })}">${lock.name}</a> ${stateOfLock(lock)[1]}</li>`)}
    </ul>
    ${locks.length > 20 ? html`<p><a href="?locks=held">${locks.length - 20} more locks</a></p>` : ''}`;
}

function holderOf({ lock, running }: JobOverview): string {
  const holders = lock ? [lock.lockedBy] : running.map(({ claimedBy = '' }) => claimedBy);
  return holders.length === 0 ? '' : `on ${[...new Set(holders.map(instanceOf))].join(', ')}`;
}

/** The grid of a page of jobs. A guard without a ledger has none. */
async function gridOf(view: View, jobs: readonly JobOverview[], days: number, page: number): Promise<Html> {
  const shown = jobs.slice((page - 1) * JOBS, page * JOBS);
  if (page > 1 && shown.length === 0) throw new NotFoundError(`There is no page ${page}.`);
  if (shown.length === 0) return '';
  const known = await knownJobs(view);
  if (known === undefined) return html`<p>This guard keeps no runs, so only its locks are known.</p>`;
  const grid = await view.reads.read(`grid ${days} ${page}`, () =>
    readGrid(known, shown, { last: todayOf(known), days }),
  );
  const ranges = RANGES.map((range) =>
    range === days
      ? html`<strong>${range} days</strong> `
      : html`<a href="${linkTo({ days: String(range) })}">${range} days</a> `,
  );
  const pages = Math.ceil(jobs.length / JOBS);
  return html`<p>${ranges} ${grid.isCut ? 'Older runs of this range are left out.' : ''} ${toCheck(grid)}</p>
    ${gridTable(grid)}
    ${pages === 1 ? '' : html`<p>Page ${page} of ${pages}: ${Array.from({ length: pages }, (_, index) => html`<a href="${linkTo({ days: String(days), page: String(index + 1) })}">${index + 1}</a> `)}</p>`}`;
}

function jobTable(view: View, jobs: readonly JobOverview[]): Html {
  const rows = jobs.map(
    ({ job, state, lastRun, nextScheduledAt, running }) =>
      html`<tr>
        <th scope="row"><a href="${linkTo({ job })}">${job}</a></th>
        <td>${stateText(state, state === 'running' ? progressOf(running) : '')}</td>
        <td>${lastRun?.periodKey ?? ''}</td>
        <td>${timeOf(lastRun?.startedAt, view)}</td>
        <td>${timeOf(nextScheduledAt, view)}</td>
      </tr>`,
  );
  return tableOf(['Job', 'State', 'Last run', 'Started', 'Next tick'], rows);
}
