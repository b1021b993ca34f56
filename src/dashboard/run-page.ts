import { InvalidLockUseError, noneAfter, SchemaMismatchError } from '../core';
import { instanceOf } from '../core/lease/owner';
import type { JobCatalog } from '../operations/job-catalog';
import type { Run, RunEvent } from '../ledger';
import { eventsBeside } from '../operations/state-texts';
import { spokenTime } from '../guard/log/time-texts';
import { stateOfRun, timeText, type When } from '../ledger/operator/state-of-run';
import type { RunKey } from '../ledger/run';
import { mayChange } from '../ledger/run-state';
import { readWhy } from '../operations/why';
import { idempotencyKeyOf } from '../ledger/tick/run-context';
import { actButton } from './forms';
import {
  actsOf,
  clockOf,
  durationOf,
  linkTo,
  pill,
  shortDuration,
  tokenOf,
  type Html,
  type Page,
} from './parts';
import { html } from './vendor';
import { knownJobs, newestActs, NotFoundError, type View } from './view';

/** One run: its attempts and acts in their order, what it left, and what an operator can do. */
export async function runPage(given: View, key: RunKey): Promise<Page> {
  const { job, scope, periodKey } = key;
  const { reads } = given;
  const name = JSON.stringify(key);
  const known = await knownJobs(given);
  if (known === undefined) throw new NotFoundError('This guard keeps no runs.');
  const view = { ...given, now: known.now };
  const run = await reads.read(`run ${name}`, () => known.ledger.get(key));
  const title = `${job}${scope === '' ? '' : ` (${scope})`} ${periodKey}`;
  if (run === undefined) return await withoutRun(view, known, { key, title });
  const events = await reads.read(`events ${name}`, () => known.ledger.history(key));
  const acts = await newestActs(view, { ...key, limit: 100 });
  const besides = eventsBeside(events, acts, view.now);
  const when: When = (instant) => spokenTime(instant, view.timeZone, view.now);
  const { brief, reason } = stateOfRun(run, { when });
  const body = html`<p>
      ${backTo(job)} The run ${brief}${run.error === undefined && reason ? `: ${reason}` : ''}.
    </p>
    <section class="card">
      <h2>Time line</h2>
      ${timeLine(view, run, [...events, ...besides])}
    </section>
    ${runFacts(view, run)} ${await logOf(view, known, key)} ${details(view, run)}`;
  return {
    title,
    beside: html`${pill(run.state)}
      <div class="btns">${runActs(view, run)}</div>`,
    body,
  };
}

function backTo(job: string): Html {
  return html`<a href="${linkTo({ job })}">Job ${job}</a>.`;
}

/** A period that the job has, but that has no run. */
async function withoutRun(
  view: View,
  known: JobCatalog,
  { key, title }: { readonly key: RunKey; readonly title: string },
): Promise<Page> {
  const { job, scope, periodKey } = key;
  await known.check(job);
  await known.runName(job, periodKey, scope);
  if (known.knownPolicy(job) === undefined)
    throw new NotFoundError(`Job '${job}' has no run for '${periodKey}'.`);
  const hidden = { job, scope, period: periodKey };
  const { obstacles } = await view.reads.read(`why ${job}`, () =>
    readWhy(view.guard, job, { when: view.when }),
  );
  const body = html`<p>${backTo(job)} This period has no run.</p>
    ${
      obstacles.length === 0
        ? ''
        : html`<section class="card">
            <h2>What keeps the job from running now</h2>
            ${obstacles.map(({ text }) => html`<p>${text}</p>`)}
          </section>`
    }
    ${await actsOf(view, { job })}`;
  const acts = html`${actButton(view, 'run', { hidden, without: ['from', 'to'], look: 'first' })}
  ${actButton(view, 'skip', { hidden })}`;
  return { title, beside: html`<div class="btns">${acts}</div>`, body };
}

interface Entry {
  readonly at: Date;
  readonly sign: string;
  readonly text: string;
  readonly detail?: string | undefined;
}

type Event = Pick<RunEvent, 'at' | 'actor' | 'detail'> &
  Partial<Pick<RunEvent, 'generation' | 'attempt'>> & { readonly kind: string };

/** What the row and the history know of the attempts, and all acts of operators. */
function timeLine(view: View, run: Run, events: readonly Event[]): Html {
  const { attempt, generation, firstStartedAt, startedAt, finishedAt, claimedBy = '', state } = run;
  // Only the first attempt of a generation and the last one have a start.
  const startOf = (event: Event): Date | undefined => {
    if (event.generation !== generation) return undefined;
    return event.attempt === attempt ? startedAt : event.attempt === 1 ? firstStartedAt : undefined;
  };
  const entries: Entry[] = events.map((event) => {
    const { at, kind, actor, detail, attempt: of = 0 } = event;
    const start = of > 0 ? startOf(event) : undefined;
    const took = start && start <= at ? `, after ${shortDuration(at.getTime() - start.getTime())}` : '';
    const isAttempt = of > 0 && !['rerun', 'resolved', 'skipped', 'requested'].includes(kind);
    const by = isAttempt ? instanceOf(actor) : actor;
    return {
      at,
      sign: kind,
      text: `${isAttempt ? `attempt ${of}, ` : ''}by ${by}${isAttempt ? took : ''}`,
      detail,
    };
  });
  const on = `attempt ${attempt} on ${instanceOf(claimedBy)}`;
  if (firstStartedAt && startedAt && firstStartedAt < startedAt)
    entries.push({ at: firstStartedAt, sign: 'started', text: 'attempt 1' });
  if (startedAt) entries.push({ at: startedAt, sign: state === 'running' ? 'running' : 'started', text: on });
  const hasEvent = events.some(
    (event) => event.attempt === attempt && event.generation === generation && event.kind === state,
  );
  const took = durationOf(run);
  const after = took === undefined ? '' : `, after ${shortDuration(took)}`;
  if (finishedAt && !hasEvent) entries.push({ at: finishedAt, sign: state, text: `${on}${after}` });
  entries.sort((a, b) => a.at.getTime() - b.at.getTime());
  if (entries.length === 0) return html`<p>No attempt has started.</p>`;
  return html`<ol class="line">
    ${entries.map(
      ({ at, sign, text, detail }) =>
        html`<li class="${tokenOf(sign)[0]}">
          ${clockOf(at, view, true)}
          <strong>${sign}</strong> ${text}${detail === undefined ? '' : detailOf(detail)}
        </li>`,
    )}
  </ol>`;
}

/** A stack is behind its first line. */
function detailOf(text: string): Html {
  const [first = '', ...more] = text.split('\n');
  return more.length === 0
    ? html`<br />${first}`
    : html`<details id="at-${first}">
        <summary>${first}</summary>
        <pre>${text}</pre>
      </details>`;
}

function runFacts(view: View, { error, result }: Run): Html {
  const section = (title: string, text: string | undefined): Html =>
    text === undefined
      ? ''
      : html`<section class="card">
          <h2>${title}</h2>
          <pre>${text}</pre>
        </section>`;
  const shown = view.hidesResults ? 'Results are hidden.' : result;
  return html`${section('Error', error)} ${section('Result', result === undefined ? undefined : shown)}`;
}

function details(view: View, run: Run): Html {
  const { timeZone } = view;
  return html`<details class="card" id="details">
    <summary>Details</summary>
    <dl>
      <dt>Idempotency key</dt>
      <dd><code>${idempotencyKeyOf(run)}</code></dd>
      <dt>Fencing token</dt>
      <dd>${run.fencingToken ?? '–'}</dd>
      <dt>Next attempt</dt>
      <dd>${run.nextAttemptAt ? timeText(run.nextAttemptAt, timeZone) : '–'}</dd>
      <dt>Period</dt>
      <dd>${timeText(run.periodStart, timeZone)} until ${timeText(run.periodEnd, timeZone)}</dd>
    </dl>
  </details>`;
}

/** The end of a long log. */
const LONGEST_LOG = 200_000;

/** Logs can have what no one foresaw, so only operators see them. Each attempt begins with a line. */
async function logOf(view: View, { ledger }: JobCatalog, key: RunKey): Promise<Html> {
  if (view.access.level !== 'operate' || view.hidesResults) return '';
  const all = await view.reads.read(`log ${JSON.stringify(key)}`, () =>
    ledger.log(key).catch(noneAfter(InvalidLockUseError, SchemaMismatchError)),
  );
  if (!all?.length) return '';
  let left = LONGEST_LOG;
  const entries = all
    .toReversed()
    .filter(({ lines }) => (left -= lines.length) > 0)
    .reverse();
  const parts = entries.map(({ at, generation, attempt, lines }, index) => {
    const before = entries[index - 1];
    const isNew = before?.attempt !== attempt || before.generation !== generation;
    const head = isNew ? html`<strong>Attempt ${attempt}, ${clockOf(at, view, true)}</strong>` : '';
    return html`<span class="${isNew ? 'new run' : ''}">${head}${lines.replace(/\n$/, '')}</span>`;
  });
  return html`<section class="card">
    <h2>Log</h2>
    <pre class="log" tabindex="0">${parts}</pre>
  </section>`;
}

function runActs(view: View, { job, scope, periodKey: period, state, nextAttemptAt }: Run): Html {
  const hidden = { job, scope, period };
  const isDue = state === 'pending' || (state === 'failed' && nextAttemptAt !== undefined);
  const look = state === 'running' ? 'danger' : state === 'failed' ? 'first' : undefined;
  const rerun = isDue ? '' : actButton(view, 'rerun', { hidden: { ...hidden, force: 'yes' }, look });
  return html`${state === 'interrupted' ? actButton(view, 'resolve', { hidden, look: 'first' }) : ''} ${rerun}
  ${mayChange(state, 'skipped', 'skip') ? actButton(view, 'skip', { hidden }) : ''}`;
}
