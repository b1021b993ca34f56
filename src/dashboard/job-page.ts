import type { JobOverview } from '../operations';
import { isHoldOwner } from '../core/lease/hold-owner';
import { instanceOf } from '../core/lease/owner';
import type { JobCatalog } from '../operations/job-catalog';
import { readWhy, type Why } from '../operations/why';
import { describeDuration } from '../guard/log/time-texts';
import type { DeclaredJob, RegisteredJob, Run, RunSummary } from '../ledger';
import { firstLines } from '../ledger/operator/state-of-run';
import { calendarPeriodsOf } from '../ledger/policy/job-policy';
import { actButton, remedyButton } from './forms';
import { readGrid, toCheck, todayOf } from './grid';
import { lockFacts } from './locks-page';
import { scheduleWords } from './next-hours';
import { attention, remarksOf } from './overview-page';
import { actsOf, clockOf, durationOf, linkTo, pill, quantile, shortDuration, tableOf, timeOf } from './parts';
import type { Html, Page } from './parts';
import { html, raw } from './vendor';
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
    ${attention(view, remarksOf(job))}
    <section class="card">
      <h2>Why does it not run now?</h2>
      ${whyOf(view, why)}
    </section>
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

/** How long its runs took, and how late they started. */
async function daysOf(view: View, known: JobCatalog, job: JobOverview): Promise<Html> {
  const grid = await view.reads.read(`days ${job.job}`, () =>
    readGrid(known, [job], { last: todayOf(known), days: DAYS }),
  );
  const { dates, rows, runs } = grid;
  const took = dates.map((date) => rows[0]?.cells.get(date));
  const ended = took.flatMap((cell) => (cell?.state === 'completed' ? (cell.tookMs ?? []) : []));
  const open = rows[0] ? html`<p class="btns">${toCheck(rows[0])}</p>` : '';
  if (ended.length === 0) return open;
  const lateness = latenessOf(known, job.job, runs);
  const [median, slow, longest] = [quantile(ended), quantile(ended, 0.95), Math.max(...ended, 1)];
  const isKnown = ended.length >= FEWEST;
  const latest = Math.max(0, ...lateness.values());
  const text = [
    `last ${job.lastRun && durationOf(job.lastRun) !== undefined ? shortDuration(durationOf(job.lastRun) ?? 0) : '–'}`,
    ...(isKnown ? [`median ${shortDuration(median)}`, `95 % below ${shortDuration(slow)}`] : []),
    `longest ${shortDuration(longest)}`,
    ...(lateness.size > 0 ? [`latest start ${shortDuration(latest)} after its time`] : []),
  ].join(' · ');
  const [height, below, step] = [96, 24, 13];
  const bars = took.map((cell, index) => {
    const late = lateness.get(dates[index] ?? '') ?? 0;
    const lateBar =
      late < 1000
        ? ''
        : html`<rect
            class="hold"
            x="${index * step}"
            y="${height + 2}"
            width="10"
            height="${Math.max(2, Math.round((late / latest) * below))}"
            ><title>${dates[index]} started ${shortDuration(late)} late</title></rect
          >`;
    if (cell?.tookMs === undefined) return lateBar;
    const length = Math.max(2, Math.round((cell.tookMs / longest) * (height - 4)));
    const tone = cell.state === 'completed' ? 'ok' : 'failed';
    const isSlow = isKnown && cell.tookMs > slow;
    return html`<rect
        class="${tone}${isSlow ? ' slow' : ''}"
        x="${index * step}"
        y="${height - length}"
        width="10"
        height="${length}"
        ><title>${dates[index]} ${cell.state}, ${shortDuration(cell.tookMs)}</title></rect
      >${lateBar}`;
  });
  const y = height - Math.round((median / longest) * (height - 4));
  return html`<section class="card">
    <h2>Duration, ${DAYS} days</h2>
    <p class="mute">Next ${clockOf(job.nextScheduledAt, view)} · ${text}</p>
    <div class="scroll" tabindex="0" role="group" aria-label="Duration of each day">
      <svg
        width="${DAYS * step}"
        height="${height + below + 4}"
        role="img"
        aria-label="${DAYS} days: ${text}"
      >
        ${bars}
        <path class="axis" d="M0 ${height}h${DAYS * step}" />
        ${isKnown ? html`<path class="median" stroke-dasharray="4" d="M0 ${y}h${DAYS * step}" />` : ''}
      </svg>
    </div>
    ${open}
  </section>`;
}

/** How long after its scheduled time the first attempt of each date started. */
function latenessOf(
  known: JobCatalog,
  job: string,
  runs: readonly RunSummary[],
): ReadonlyMap<string, number> {
  const [policy, { schedule }] = [known.knownPolicy(job), known.expectationOf(job)];
  const periods = policy && calendarPeriodsOf(policy);
  const late = new Map<string, number>();
  if (!schedule || !periods || periods.target === 'previous') return late;
  for (const { periodStart: start, periodEnd: end, periodKey, firstStartedAt, generation } of runs) {
    const due = start && end && schedule.firstIn({ start, end });
    if (due && firstStartedAt && generation === 0)
      late.set(periodKey, Math.max(0, firstStartedAt.getTime() - due.getTime()));
  }
  return late;
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
  return html`<section class="card" id="runs">
    <div class="bar">
      <h2>Runs</h2>
      <nav class="btns" aria-label="Runs">
        ${Object.keys(FILTERS).map((name) => html`<a href="${linkTo({ job, runs: name })}#runs" ${name === asked ? raw('aria-current="true"') : ''}>${name}</a>`)}
      </nav>
    </div>
    ${
      shown.length === 0
        ? html`<p class="mute">No such run is recorded.</p>`
        : tableOf(
            ['Period', 'State', 'Started', 'Took', 'Attempt', 'On', 'Note'],
            shown.map((run) => runRow(view, run, longest)),
          )
    }
  </section>`;
}

function runRow(view: View, run: Run, longest: number): Html {
  const { job, scope, periodKey: period, state, attempt, startedAt, claimedBy } = run;
  const took = durationOf(run);
  const bar =
    took === undefined
      ? ''
      : html`<svg width="80" height="8" aria-hidden="true">
            <rect width="${Math.ceil((80 * took) / longest)}" height="8" />
          </svg>
          ${describeDuration(took)}`;
  return html`<tr>
    <th scope="row">
      <a href="${linkTo({ job, period, scope })}">${period}${scope === '' ? '' : ` (${scope})`}</a>
    </th>
    <td>${pill(state)}</td>
    <td>${clockOf(startedAt, view)}</td>
    <td>${bar}</td>
    <td>${attempt}</td>
    <td>${claimedBy ? instanceOf(claimedBy) : ''}</td>
    <td><small>${firstLines(run.error) ?? run.reason ?? ''}</small></td>
  </tr>`;
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
  return html`<details class="card" id="settings">
    <summary>Settings</summary>
    <dl>
      ${settingsOf(declared).map(
        ([name, text]) =>
          html`<dt>${name}</dt>
            <dd>${text}</dd>`,
      )}
      <dt>Registered by</dt>
      <dd>${registeredBy}, cronlatch ${version}, ${timeOf(registeredAt, view)}</dd>
    </dl>
  </details>`;
}

/** What its code declares, in words. */
function settingsOf(declared: DeclaredJob): readonly (readonly [string, string])[] {
  const { lock, kind, timeZone, dayStart, target, retry, onCrash, catchUp, scope } = declared;
  const { renewEveryMs, maxLockDurationMs, startDeadlineMs, lockAtLeastForMs } = declared;
  const time = (ms: number | undefined): string => (ms === undefined ? '' : shortDuration(ms));
  const period = kind === 'lock' ? 'only a lock' : kind === 'custom' ? 'by a key of its own' : `per ${kind}`;
  const waits =
    retry && retry.maxAttempts > 1 ? `, the second ${time(retry.initialDelayMs)} after a failure` : '';
  const all: (readonly [string, string | false | undefined])[] = [
    ['Runs', `${period}${timeZone ? `, in ${timeZone}` : ''}${dayStart ? `, from ${dayStart}` : ''}`],
    ['Period', target === 'previous' && 'the one before'],
    ['Lock', `${lock}${declared.hasNameFunction ? ' (its names depend on the arguments)' : ''}`],
    ['Locked', `at most ${time(declared.lockAtMostForMs)}, at least ${time(lockAtLeastForMs)}`],
    [
      'Renewed',
      renewEveryMs ? `every ${time(renewEveryMs)}, for at most ${time(maxLockDurationMs)}` : 'never',
    ],
    ['Attempts', retry && `${retry.maxAttempts}${waits}`],
    ['After a crash', onCrash && (onCrash === 'hold' ? 'an operator decides' : 'the run is repeated')],
    ['Catch-up', catchUp && `${catchUp.catchUp}, of the last ${time(catchUp.windowMs)}`],
    ['Starts', startDeadlineMs !== undefined && `at most ${time(startDeadlineMs)} late`],
    ['Days', declared.hasCalendar && 'by a calendar of its own'],
    ['Scope', declared.hasScopeFunction ? 'by a function' : scope],
    ['Enabled', declared.disabled && `no: disabled by its ${declared.disabled}`],
  ];
  return all.filter((each): each is readonly [string, string] => typeof each[1] === 'string');
}
