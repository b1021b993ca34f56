import { InvalidLockUseError, noneAfter, SchemaMismatchError } from '../core';
import { instanceOf } from '../core/lease/owner';
import type { JobCatalog } from '../operations/job-catalog';
import type { Run, RunEvent, RunLogEntry } from '../ledger';
import { eventsBeside, shortDuration } from '../operations/state-texts';
import { spokenTime } from '../guard/log/time-texts';
import { stateOfRun, timeText } from '../ledger/operator/state-of-run';
import type { RunKey } from '../ledger/run';
import { mayChange } from '../ledger/run-state';
import { readWhy } from '../operations/why';
import { idempotencyKeyOf } from '../ledger/tick/run-context';
import { actButton } from './forms';
import { actsOf, card, clockOf, factsOf, linkTo, pill, tokenOf } from './parts';
import type { Html, Page } from './parts';
import { html } from './vendor';
import { knownJobs, newestActs, NotFoundError, type View } from './view';

/** One run: its attempts and acts in their order, what it left, and what an operator can do. */
export async function runPage(given: View, key: RunKey): Promise<Page> {
  const { job, scope, periodKey } = key;
  const { reads, timeZone } = given;
  const name = JSON.stringify(key);
  const known = await knownJobs(given);
  if (known === undefined) throw new NotFoundError('This guard keeps no runs.');
  const view = { ...given, now: known.now };
  const run = await reads.read(`run ${name}`, () => known.ledger.get(key));
  const title = `${job}${scope === '' ? '' : ` (${scope})`} ${periodKey}`;
  if (run === undefined) return await withoutRun(view, known, key, title);
  const events = await reads.read(`events ${name}`, () => known.ledger.history(key));
  const acts = await newestActs(view, { ...key, limit: 100 });
  const besides = eventsBeside(events, acts, view.now);
  const { brief, reason } = stateOfRun(run, { when: (instant) => spokenTime(instant, timeZone, view.now) });
  const { error, result } = run;
  const shown = view.hidesResults ? 'Results are hidden.' : result;
  const body = html`<p>
      ${linkToJob(job)} The run ${brief}${error === undefined && reason ? `: ${reason}` : ''}.
    </p>
    ${card('Time line', timeLine(view, run, [...events, ...besides]))}
    ${error === undefined ? '' : card('Error', html`<pre>${error}</pre>`)}
    ${result === undefined ? '' : card('Result', html`<pre>${shown}</pre>`)} ${await logOf(view, known, key)}
    ${details(view, run)}`;
  const beside = html`${pill(run.state)}
    <div class="btns">${runActs(view, run)}</div>`;
  return { title, beside, body };
}

function linkToJob(job: string): Html {
  return html`<a href="${linkTo({ job })}">Job ${job}</a>.`;
}

/** A period that the job has, but that has no run. */
async function withoutRun(view: View, known: JobCatalog, key: RunKey, title: string): Promise<Page> {
  const { job, scope, periodKey: period } = key;
  const { guard, reads, when } = view;
  await known.check(job);
  await known.runName(job, period, scope);
  if (known.knownPolicy(job) === undefined)
    throw new NotFoundError(`Job '${job}' has no run for '${period}'.`);
  const { obstacles } = await reads.read(`why ${job}`, () => readWhy(guard, job, { when }));
  const texts = obstacles.map(({ text }) => html`<p>${text}</p>`);
  const body = html`<p>${linkToJob(job)} This period has no run.</p>
    ${texts.length === 0 ? '' : card('What keeps the job from running now', html`${texts}`)}
    ${await actsOf(view, { job })}`;
  const hidden = { job, scope, period };
  const acts = html`${actButton(view, 'run', { hidden, without: ['from', 'to'], look: 'first' })}
  ${actButton(view, 'skip', { hidden })}`;
  return { title, beside: html`<div class="btns">${acts}</div>`, body };
}

type Entry = Pick<RunEvent, 'at' | 'detail'> & { readonly sign: string; readonly text: string };

type Event = Pick<RunEvent, 'at' | 'actor' | 'detail'> &
  Partial<Pick<RunEvent, 'generation' | 'attempt'>> & { readonly kind: string };

/** What the row and the history know of the attempts, and all acts of operators. */
function timeLine(view: View, run: Run, events: readonly Event[]): Html {
  const { attempt, generation, firstStartedAt, startedAt, finishedAt, claimedBy = '', state } = run;
  const on = `attempt ${attempt} on ${instanceOf(claimedBy)}`;
  const isRetry = firstStartedAt && startedAt && firstStartedAt < startedAt;
  const hasEnd = events.some(
    (event) => event.attempt === attempt && event.generation === generation && event.kind === state,
  );
  const entries = [
    ...events.map((event) => entryOf(run, event)),
    ...entryAt(isRetry ? firstStartedAt : undefined, 'started', 'attempt 1'),
    ...entryAt(startedAt, state === 'running' ? state : 'started', on),
    ...entryAt(hasEnd ? undefined : finishedAt, state, `${on}${tookText(startedAt, finishedAt)}`),
  ].sort((a, b) => a.at.getTime() - b.at.getTime());
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

function entryAt(at: Date | undefined, sign: string, text: string): readonly Entry[] {
  return at ? [{ at, sign, text, detail: undefined }] : [];
}

function entryOf(run: Run, { at, kind: sign, actor, detail, attempt = 0, generation }: Event): Entry {
  const isAttempt = attempt > 0 && !['rerun', 'resolved', 'skipped', 'requested'].includes(sign);
  if (!isAttempt) return { at, sign, text: `by ${actor}`, detail };
  // Only the first attempt of a generation and the last one have a start.
  const first = attempt === 1 ? run.firstStartedAt : undefined;
  const startedAt = attempt === run.attempt ? run.startedAt : first;
  const took = generation === run.generation ? tookText(startedAt, at) : '';
  return { at, sign, text: `attempt ${attempt}, by ${instanceOf(actor)}${took}`, detail };
}

function tookText(startedAt: Date | undefined, until: Date | undefined): string {
  if (startedAt === undefined || until === undefined || until < startedAt) return '';
  return `, after ${shortDuration(until.getTime() - startedAt.getTime())}`;
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

function details({ timeZone }: View, run: Run): Html {
  const { fencingToken = '–', nextAttemptAt, periodStart, periodEnd } = run;
  return html`<details class="card" id="details">
    <summary>Details</summary>
    ${factsOf([
      ['Idempotency key', html`<code>${idempotencyKeyOf(run)}</code>`],
      ['Fencing token', String(fencingToken)],
      ['Next attempt', nextAttemptAt ? timeText(nextAttemptAt, timeZone) : '–'],
      ['Period', `${timeText(periodStart, timeZone)} until ${timeText(periodEnd, timeZone)}`],
    ])}
  </details>`;
}

/** In characters. Of a longer log, the page shows the end. */
const LONGEST_LOG = 200_000;

/** Logs can have what no one foresaw, so only operators see them. Each attempt begins with a line. */
async function logOf(view: View, { ledger }: JobCatalog, key: RunKey): Promise<Html> {
  if (view.access.level !== 'operate' || view.hidesResults) return '';
  const read = () => ledger.log(key).catch(noneAfter(InvalidLockUseError, SchemaMismatchError));
  const all = await view.reads.read(`log ${JSON.stringify(key)}`, read);
  if (!all?.length) return '';
  let left = LONGEST_LOG;
  const entries: RunLogEntry[] = [];
  for (const entry of all.toReversed()) {
    if (left > 0) entries.unshift({ ...entry, lines: entry.lines.slice(-left) });
    left -= entry.lines.length;
  }
  const parts = entries.map(({ at, generation, attempt, lines }, index) => {
    const before = entries[index - 1];
    const isNew = before?.attempt !== attempt || before.generation !== generation;
    const time = clockOf(at, view, true);
    const head = isNew ? html`<strong>Attempt ${attempt}, ${time}</strong>` : time;
    return html`<span class="${isNew ? 'new run' : ''}">${head}${lines.replace(/\n$/, '')}</span>`;
  });
  const log = html`${left < 0 ? html`<p class="mute">The beginning is left out.</p>` : ''}
    <pre class="log" tabindex="0" role="group" aria-label="Log">${parts}</pre>`;
  return card('Log', log);
}

function runActs(view: View, { job, scope, periodKey: period, state, nextAttemptAt }: Run): Html {
  const hidden = { job, scope, period };
  const isDue = state === 'pending' || (state === 'failed' && nextAttemptAt !== undefined);
  const look = state === 'running' ? 'danger' : state === 'failed' ? 'first' : undefined;
  const rerun = isDue ? '' : actButton(view, 'rerun', { hidden: { ...hidden, force: 'yes' }, look });
  return html`${state === 'interrupted' ? actButton(view, 'resolve', { hidden, look: 'first' }) : ''} ${rerun}
  ${mayChange(state, 'skipped', 'skip') ? actButton(view, 'skip', { hidden }) : ''}`;
}
