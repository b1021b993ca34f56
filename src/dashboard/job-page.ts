import type { JobOverview } from '../operations';
import { isHoldOwner } from '../core/lease/hold-owner';
import { instanceOf } from '../core/lease/owner';
import type { Verb } from '../operations/acts/act';
import type { JobCatalog } from '../operations/job-catalog';
import { readWhy, type Why } from '../operations/why';
import { describeDuration } from '../guard/log/time-texts';
import type { DeclaredJob, RegisteredJob, RunSummary } from '../ledger';
import { describeSchedule } from '../ledger/job-register';
import { dateOf, dayOf } from '../ledger/periods/business-date';
import { calendarPeriodsOf } from '../ledger/policy/job-policy';
import { gridCells, readGrid, todayOf, type Grid, type GridRow } from './grid';
import { actForm } from './forms';
import { lockFacts } from './locks-page';
import { remarkOf } from './overview-page';
import { actsOf, commandHint, linkTo, stateText, tableOf, timeOf, type Html, type Page } from './parts';
import { html, inWords } from './vendor';
import { knownJobs, NotFoundError, overviewOf, type View } from './view';

const RUNS = 50;

/** One job: why it does not run now, its year, its runs, and what an operator can do. */
export async function jobPage(given: View, name: string): Promise<Page> {
  const { reads, guard, when } = given;
  const overview = await overviewOf(given);
  const view = { ...given, now: overview.now };
  const job = overview.jobs.find((each) => each.job === name);
  if (job === undefined) throw new NotFoundError(`There is no job '${name}'.`);
  const known = await knownJobs(view);
  const why = await reads.read(`why ${name}`, () => readWhy(guard, name, { when }));
  const registered = known?.get(name);
  const year = known && (await readYear(view, known, job));
  const remarks = [...job.problems, ...job.notes].map((remark) => remarkOf(name, remark));
  const body = html`<p>${stateText(job.state)} ${scheduleOf(registered?.declared)}</p>
    ${
      remarks.length === 0
        ? ''
        : html`<ul class="problems">
            ${remarks}
          </ul>`
    }
    <h2>Why does it not run now?</h2>
    ${whyOf(why)}
    ${
      why.lock?.isHeld
        ? html`<h2>Lock</h2>
            ${lockFacts(view, why.lock)}
            <p><a href="${linkTo({ lock: why.lock.name })}">Lock ${why.lock.name}</a></p>`
        : ''
    }
    ${year ? yearOf(view, year, job.job) : ''}
    ${await actsOf(view, { job: name, lock: registered?.declared.lock })}
    ${year && registered ? html`${jobActs(view, known, { ...job, ...registered })} ${declaration(view, registered)}` : ''}`;
  return { title: name, body };
}

/** Each schedule in words. An expression that only node-cron knows stays as it is. */
function scheduleOf(declared: DeclaredJob | undefined): Html {
  return html`${(declared?.schedules ?? []).map((schedule) => {
    if (!('expression' in schedule)) return html`${describeSchedule(schedule)}. `;
    const { expression, timeZone } = schedule;
    const words = inWords(expression, { throwExceptionOnParseError: false, use24HourTimeFormat: true });
    const text = words.startsWith('An error') ? expression : words;
    return html`${text}${timeZone ? `, ${timeZone}` : ''} (<code>${expression}</code>). `;
  })}`;
}

function whyOf({ obstacles, running, past, tick, record }: Why): Html {
  const all = past ? [...obstacles, past] : obstacles;
  return html`${running ? html`<p>${running}</p>` : ''}
  ${obstacles.length === 0 ? html`<p>Nothing keeps it from running.</p>` : ''}
  ${all.map(({ text, remedy }) => html`<p>${text} ${commandHint(remedy)}</p>`)}
  ${tick ? html`<p>${tick.text} ${commandHint(tick.remedy)}</p>` : ''} ${record ? html`<p>${record}</p>` : ''}`;
}

interface Year extends Pick<Grid, 'rows' | 'runs'> {
  readonly year: string;
}

async function readYear({ query, reads }: View, known: JobCatalog, job: JobOverview): Promise<Year> {
  const year = query.get('year') ?? dateOf(todayOf(known)).slice(0, 4);
  if (!/^(19|20|21)\d\d$/.test(year)) throw new NotFoundError(`There is no year '${year}'.`);
  const [first, end] = [dayOf(`${year}-01-01`), dayOf(`${year}-12-31`)];
  const range = { last: end, days: end - first + 1 };
  return { year, ...(await reads.read(`year ${year} ${job.job}`, () => readGrid(known, [job], range))) };
}

/** A year as a calendar, and the newest runs of that year with their durations. */
function yearOf(view: View, { year, rows, runs }: Year, job: string): Html {
  const [before, after] = [-1, 1].map((step) => String(Number(year) + step));
  return html`<h2>${year}</h2>
    <p>
      <a href="${linkTo({ job, year: before })}">${before}</a>
      <a href="${linkTo({ job, year: after })}">${after}</a>
    </p>
    ${rows[0] ? calendar(rows[0], Number(year)) : ''}
    <h2>Runs</h2>
    ${runList(view, runs.slice(0, RUNS))}`;
}

function calendar(row: GridRow, year: number): Html {
  const months = Array.from({ length: 12 }, (_, month) => `${year}-${String(month + 1).padStart(2, '0')}`);
  const days = Array.from({ length: 31 }, (_, day) => String(day + 1).padStart(2, '0'));
  return html`<div class="scroll">
    <table class="grid" id="grid">
      <caption>
        ${year}
      </caption>
      <thead>
        <tr>
          <th scope="col">Month</th>
          ${days.map((day) => html`<th scope="col">${day}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${months.map(
          (month) =>
            html`<tr>
              <th scope="row">${month}</th>
              ${gridCells(
                row.job,
                days.map((day) => `${month}-${day}`),
                row.cells,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function runList(view: View, runs: readonly RunSummary[]): Html {
  if (runs.length === 0) return html`<p>No run of this year is recorded.</p>`;
  const longest = Math.max(...runs.map((run) => durationOf(run) ?? 0), 1);
  return tableOf(
    ['Period', 'State', 'Attempt', 'Started', 'On', 'Took'],
    runs.map((run) => runRow(view, run, longest)),
  );
}

function runRow(view: View, run: RunSummary, longest: number): Html {
  const { job, scope, periodKey: period, state, attempt, startedAt, claimedBy } = run;
  const took = durationOf(run);
  const bar =
    took === undefined
      ? ''
      : html`<svg width="120" height="8" aria-hidden="true">
            <rect width="${Math.ceil((120 * took) / longest)}" height="8" />
          </svg>
          ${describeDuration(took)}`;
  return html`<tr>
    <th scope="row">
      <a href="${linkTo({ job, period, scope })}">${period}${scope === '' ? '' : ` (${scope})`}</a>
    </th>
    <td>${stateText(state)} ${run.reason ?? ''}</td>
    <td>${attempt}</td>
    <td>${timeOf(startedAt, view)}</td>
    <td>${claimedBy ? instanceOf(claimedBy) : ''}</td>
    <td>${bar}</td>
  </tr>`;
}

function durationOf({ startedAt, finishedAt }: RunSummary): number | undefined {
  return startedAt && finishedAt && Math.max(0, finishedAt.getTime() - startedAt.getTime());
}

function jobActs(
  view: View,
  known: JobCatalog,
  { job, lock, declared }: Pick<JobOverview, 'job' | 'lock'> & Pick<RegisteredJob, 'declared'>,
): Html {
  if (view.access.level !== 'operate') return '';
  const policy = known.knownPolicy(job);
  const hasPeriods = policy !== undefined && calendarPeriodsOf(policy) !== undefined;
  const without = [
    ...(hasPeriods ? [] : ['period', 'from', 'to']),
    ...(declared.hasScopeFunction ? [] : ['scope']),
    'lock',
  ];
  const values = { from: view.query.get('from') ?? undefined, to: view.query.get('to') ?? undefined };
  const form = (verb: Verb): Html => actForm(view, verb, { hidden: { job }, values, without });
  const isPaused = lock !== undefined && isHoldOwner(lock.lockedBy);
  return html`<h2>Acts</h2>
    <div class="acts">
      ${form('run')} ${isPaused ? form('resume') : declared.hasNameFunction ? '' : form('pause')}
      ${form('forget')}
    </div>`;
}

function declaration(view: View, registered: RegisteredJob): Html {
  const { declared, version, registeredBy, registeredAt } = registered;
  const facts = Object.entries(declared).filter(
    ([name, value]) => value !== undefined && name !== 'schedules',
  );
  return html`<h2>Declaration</h2>
    <dl>
      ${facts.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${/Ms$/.test(name) ? describeDuration(Number(value)) : JSON.stringify(value)}</dd>`,
      )}
      <dt>Registered by</dt>
      <dd>${registeredBy}, cronlatch ${version}, ${timeOf(registeredAt, view)}</dd>
    </dl>`;
}
