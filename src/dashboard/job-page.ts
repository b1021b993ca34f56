import type { JobOverview } from '../operations';
import { isHoldOwner } from '../core/lease/hold-owner';
import { instanceOf } from '../core/lease/owner';
import type { JobCatalog } from '../operations/job-catalog';
import { readWhy, type Why } from '../operations/why';
import { describeDuration } from '../guard/log/time-texts';
import type { RegisteredJob, Run } from '../ledger';
import { firstLines } from '../ledger/operator/state-of-run';
import { calendarPeriodsOf } from '../ledger/policy/job-policy';
import { readDays } from '../operations/days';
import { delaysOf, durationOf, quantile } from '../operations/durations';
import { settingsOf, shortDuration } from '../operations/state-texts';
import { actButton, remedyButton } from './forms';
import { toCheck } from './grid';
import { lockFacts } from './locks-page';
import { scheduleWords } from './next-hours';
import { attention, remarksOf } from './overview-page';
import {
  actsOf,
  card,
  clockOf,
  current,
  factsOf,
  linkTo,
  pill,
  rowOf,
  scroll,
  tableOf,
  timeOf,
} from './parts';
import type { Html, Page } from './parts';
import { html } from './vendor';
import { knownJobs, NotFoundError, overviewOf, type View } from './view';

const [RUNS, DAYS, FEWEST] = [25, 90, 10];

/** One job: what an operator can do, why it does not run now, how long it takes, and its runs. */
export async function jobPage(given: View, name: string): Promise<Page> {
  const { reads, guard, when } = given;
  const overview = await overviewOf(given);
  const view = { ...given, now: overview.now };
  const job = overview.jobs.find((each) => each.job === name);
  if (job === undefined) throw new NotFoundError(`There is no job '${name}'.`);
  const known = await knownJobs(view);
  const why = await reads.read(`why ${name}`, () => readWhy(guard, name, { when }));
  const registered = known?.get(name);
  const body = html`<p class="mute">${scheduleWords(registered?.declared, true)}</p>
    ${attention(view, remarksOf(job))} ${card('Why does it not run now?', whyOf(view, why))}
    ${why.lock?.isHeld ? lockFacts(view, why.lock, known) : ''}
    ${known && registered?.declared.kind !== 'lock' ? html`${await daysOf(view, known, job)} ${await runsOf(view, known, name)}` : ''}
    ${await actsOf(view, { job: name, lock: registered?.declared.lock })}
    ${registered ? settings(view, registered) : ''}`;
  const acts = known && registered ? jobActs(view, known, { ...job, ...registered }) : '';
  return {
    title: name,
    beside: html`${pill(job.state)}
      <div class="btns">${acts}</div>`,
    body,
  };
}

function whyOf(view: View, { obstacles, running, past, tick, record }: Why): Html {
  const all = [...obstacles, ...(past ? [past] : []), ...(tick ? [tick] : [])];
  return html`${running ? html`<p>${running}</p>` : ''}
  ${obstacles.length === 0 ? html`<p>Nothing keeps it from running.</p>` : ''}
  ${all.map(
    ({ text, remedy }: Omit<Why['obstacles'][number], 'reason'>, index) =>
      html`<div class="bar">
        <p>${text}</p>
        ${remedy ? html`<span class="btns">${remedyButton(view, remedy, `why${index}`)}</span>` : ''}
      </div>`,
  )}
  ${record ? html`<p>${record}</p>` : ''}`;
}

const [HEIGHT, BELOW, STEP] = [96, 24, 13];

/** A bar of the chart of days, with its text. */
function bar(
  look: string,
  at: { readonly day: number; readonly y: number; readonly height: number },
  text: string,
): Html {
  return html`<rect class="${look}" x="${at.day * STEP}" y="${at.y}" width="10" height="${at.height}">
    <title>${text}</title>
  </rect>`;
}

/** How long its runs took, and how late they started. */
async function daysOf(view: View, known: JobCatalog, job: JobOverview): Promise<Html> {
  const grid = await view.reads.read(`days ${job.job}`, () =>
    readDays(known, [job], { days: DAYS, delayOf: delaysOf(known, job.job) }),
  );
  const days = grid.of.get(job.job) ?? new Map<string, never>();
  const open = toCheck(job.job, days);
  const ended = [...days.values()].flatMap(({ state, tookMs }) =>
    state === 'completed' ? (tookMs ?? []) : [],
  );
  if (ended.length === 0) return open;
  const latest = Math.max(...[...days.values()].map(({ delayMs = -1 }) => delayMs));
  const [median, slow, longest] = [quantile(ended), quantile(ended, 0.95), Math.max(...ended, 1)];
  const isKnown = ended.length >= FEWEST;
  const lastMs = job.lastRun && durationOf(job.lastRun);
  const text = [
    `last ${lastMs === undefined ? '–' : shortDuration(lastMs)}`,
    ...(isKnown ? [`median ${shortDuration(median)}`, `95 % below ${shortDuration(slow)}`] : []),
    `longest ${shortDuration(longest)}`,
    ...(latest < 0 ? [] : [`latest start ${shortDuration(latest)} after its time`]),
  ].join(' · ');
  const heightOf = (ms: number): number => Math.max(2, Math.round((ms / longest) * (HEIGHT - 4)));
  const bars = grid.dates.map((date, day) => {
    const { state = '', tookMs, delayMs: delay = 0 } = days.get(date) ?? {};
    const late = { day, y: HEIGHT + 2, height: Math.max(2, Math.round((delay / latest) * BELOW)) };
    const took = { day, y: HEIGHT - heightOf(tookMs ?? 0), height: heightOf(tookMs ?? 0) };
    const look = `${state === 'completed' ? 'ok' : 'failed'}${isKnown && (tookMs ?? 0) > slow ? ' slow' : ''}`;
    return html`${tookMs === undefined ? '' : bar(look, took, `${date} ${state}, ${shortDuration(tookMs)}`)}
    ${delay < 1000 ? '' : bar('hold', late, `${date} started ${shortDuration(delay)} late`)}`;
  });
  const middle = html`<path
    class="median"
    stroke-dasharray="4"
    d="M0 ${HEIGHT - heightOf(median)}h${DAYS * STEP}"
  />`;
  const chart = html`<svg
    width="${DAYS * STEP}"
    height="${HEIGHT + BELOW + 4}"
    role="img"
    aria-label="${DAYS} days: ${text}"
  >
    ${bars}
    <path class="axis" d="M0 ${HEIGHT}h${DAYS * STEP}" />
    ${isKnown ? middle : ''}
  </svg>`;
  const body = html`<p class="mute">Next ${clockOf(job.nextScheduledAt, view)} · ${text}</p>
    ${scroll('Duration of each day', chart)} ${open}`;
  return card(`Duration, ${DAYS} days`, body);
}

const FILTERS = {
  all: {},
  failed: { states: ['failed', 'interrupted'] },
  retried: { limit: 500 },
  skipped: { states: ['skipped'] },
} as const;

async function runsOf(view: View, known: JobCatalog, job: string): Promise<Html> {
  const asked = view.query.get('runs') ?? 'all';
  if (!Object.hasOwn(FILTERS, asked)) throw new NotFoundError(`Runs have no filter '${asked}'.`);
  const filter = FILTERS[asked as keyof typeof FILTERS];
  const runs = await view.reads.read(`runs ${asked} ${job}`, () =>
    known.ledger.list({ job, limit: RUNS, ...filter }),
  );
  const isRetried = ({ attempt, generation }: Run): boolean => attempt > 1 || generation > 0;
  const shown = (asked === 'retried' ? runs.filter(isRetried) : runs).slice(0, RUNS);
  const longest = Math.max(...shown.map((run) => durationOf(run) ?? 0), 1);
  const filters = Object.keys(FILTERS).map(
    (name) => html`<a href="${linkTo({ job, runs: name })}#runs" ${current(name === asked)}>${name}</a>`,
  );
  const columns = ['Period', 'State', 'Started', 'Took', 'Attempt', 'On', 'Note'];
  const rows = shown.map((run) => runRow(view, run, longest));
  return card(
    'Runs',
    shown.length === 0 ? html`<p class="mute">No such run is recorded.</p>` : tableOf('Runs', columns, rows),
    html`<nav class="btns" id="runs" aria-label="Runs">${filters}</nav>`,
  );
}

function runRow(view: View, run: Run, longest: number): Html {
  const { job, scope, periodKey: period, state, attempt, startedAt, claimedBy, error, reason } = run;
  const took = durationOf(run);
  const width = Math.ceil((80 * (took ?? 0)) / longest);
  const bar = html`<svg width="80" height="8" aria-hidden="true"><rect width="${width}" height="8" /></svg>`;
  const link = html`<a href="${linkTo({ job, period, scope })}"
    >${period}${scope === '' ? '' : ` (${scope})`}</a
  >`;
  const time = took === undefined ? '' : html`${bar} ${describeDuration(took)}`;
  const note = html`<small>${firstLines(error) ?? reason ?? ''}</small>`;
  const on = claimedBy ? instanceOf(claimedBy) : '';
  return rowOf([pill(state), clockOf(startedAt, view), time, `${attempt}`, on, note], link);
}

function jobActs(
  view: View,
  known: JobCatalog,
  { job, lock, declared }: Pick<JobOverview, 'job' | 'lock'> & Pick<RegisteredJob, 'declared'>,
): Html {
  const policy = known.knownPolicy(job);
  const hasPeriods = policy !== undefined && calendarPeriodsOf(policy) !== undefined;
  const hidden = { job };
  const scope = declared.hasScopeFunction ? [] : ['scope'];
  const isPaused = lock !== undefined && isHoldOwner(lock.lockedBy);
  return html`${actButton(view, 'run', { hidden, without: ['from', 'to', ...scope, ...(hasPeriods ? [] : ['period'])], look: 'first' })}
  ${isPaused ? actButton(view, 'resume', { hidden }) : declared.hasNameFunction ? '' : actButton(view, 'pause', { hidden })}
  ${hasPeriods ? actButton(view, 'run', { hidden, without: ['period', ...scope], id: 'run-range', label: 'Add past days' }) : ''}
  ${actButton(view, 'forget', { hidden })}`;
}

function settings(view: View, { declared, version, registeredBy, registeredAt }: RegisteredJob): Html {
  const by = html`${registeredBy}, cronlatch ${version}, ${timeOf(registeredAt, view)}`;
  return html`<details class="card" id="settings">
    <summary>Settings</summary>
    ${factsOf([...settingsOf(declared), ['Registered by', by]])}
  </details>`;
}
