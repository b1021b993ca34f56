import { InvalidLockUseError, noneAfter, SchemaMismatchError } from '../core';
import { instanceOf } from '../core/lease/owner';
import type { JobCatalog } from '../operations/job-catalog';
import type { Run, RunEvent } from '../ledger';
import { eventsBeside } from '../operations/state-texts';
import { spokenTime } from '../guard/log/time-texts';
import { stateOfRun, timeText, type When } from '../ledger/operator/state-of-run';
import type { RunKey } from '../ledger/run';
import { idempotencyKeyOf } from '../ledger/tick/run-context';
import { actForm } from './forms';
import { linkTo, stateText, timeOf, type Html, type Page } from './parts';
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
  if (run === undefined) return { title, body: await withoutRun(view, known, key) };
  const events = await reads.read(`events ${name}`, () => known.ledger.history(key));
  const acts = await newestActs(view, { ...key, limit: 100 });
  const besides = eventsBeside(events, acts, view.now);
  const when: When = (instant) => spokenTime(instant, view.timeZone, view.now);
  const body = html`${backTo(job)}
    <p>${stateText(run.state)} The run ${stateOfRun(run, { when }).sentence}.</p>
    ${runActs(view, run)}
    <h2>Time line</h2>
    ${timeLine(view, run, [...events, ...besides])} ${runFacts(view, run)} ${await logOf(view, known, key)}`;
  return { title, body };
}

function backTo(job: string): Html {
  return html`<p><a href="${linkTo({ job })}">Job ${job}</a></p>`;
}

/** A period that the job has, but that has no run. */
async function withoutRun(view: View, known: JobCatalog, key: RunKey): Promise<Html> {
  const { job, scope, periodKey } = key;
  await known.check(job);
  await known.runName(job, periodKey, scope);
  if (known.knownPolicy(job) === undefined)
    throw new NotFoundError(`Job '${job}' has no run for '${periodKey}'.`);
  const hidden = { job, scope, period: periodKey };
  return html`${backTo(job)}
    <p>This period has no run.</p>
    ${actForm(view, 'run', { hidden, without: ['from', 'to'] })} ${actForm(view, 'skip', { hidden })}`;
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
  const { attempt, generation, startedAt, finishedAt, claimedBy = '', state } = run;
  const entries: Entry[] = events.map(({ at, kind, actor, detail, attempt: of = 0 }) => ({
    at,
    sign: kind,
    text: `${of > 0 ? `attempt ${of}, ` : ''}by ${actor}`,
    detail,
  }));
  const on = `attempt ${attempt} on ${instanceOf(claimedBy)}`;
  if (startedAt) entries.push({ at: startedAt, sign: 'running', text: `${on} started` });
  const hasEvent = events.some(
    (event) => event.attempt === attempt && event.generation === generation && event.kind === state,
  );
  if (finishedAt && !hasEvent) entries.push({ at: finishedAt, sign: state, text: on });
  entries.sort((a, b) => a.at.getTime() - b.at.getTime());
  if (entries.length === 0) return html`<p>No attempt has started.</p>`;
  return html`<ol class="line">
    ${entries.map(
      ({ at, sign, text, detail }) =>
        html`<li>
          ${timeOf(at, view)} ${stateText(sign)} ${text}${detail === undefined ? '' : detailOf(detail)}
        </li>`,
    )}
  </ol>`;
}

/** A stack is behind its first line. */
function detailOf(text: string): Html {
  const [first = '', ...more] = text.split('\n');
  return more.length === 0
    ? html`<br />${first}`
    : html`<details>
        <summary>${first}</summary>
        <pre>${text}</pre>
      </details>`;
}

function runFacts(view: View, run: Run): Html {
  const { error, result, nextAttemptAt } = run;
  const { timeZone } = view;
  return html`${
      error === undefined
        ? ''
        : html`<h2>Error</h2>
            <pre>${error}</pre>`
    }
    ${
      result === undefined
        ? ''
        : html`<h2>Result</h2>
            <pre>${view.hidesResults ? 'Results are hidden.' : result}</pre>`
    }
    <h2>Details</h2>
    <dl>
      <dt>Idempotency key</dt>
      <dd><code>${idempotencyKeyOf(run)}</code></dd>
      <dt>Fencing token</dt>
      <dd>${run.fencingToken ?? '–'}</dd>
      <dt>Next attempt</dt>
      <dd>${nextAttemptAt ? timeText(nextAttemptAt, timeZone) : '–'}</dd>
      <dt>Period</dt>
      <dd>${timeText(run.periodStart, timeZone)} until ${timeText(run.periodEnd, timeZone)}</dd>
    </dl>`;
}

/** The end of a long log. */
const LONGEST_LOG = 200_000;

/** Logs can have what no one foresaw, so only operators see them. */
async function logOf(view: View, { ledger }: JobCatalog, key: RunKey): Promise<Html> {
  if (view.access.level !== 'operate' || view.hidesResults) return '';
  const entries = await view.reads.read(`log ${JSON.stringify(key)}`, () =>
    ledger.log(key).catch(noneAfter(InvalidLockUseError, SchemaMismatchError)),
  );
  if (!entries?.length) return '';
  const text = entries.map(({ lines }) => lines).join('');
  return html`<h2>Log</h2>
    <pre class="log" tabindex="0">${text.slice(-LONGEST_LOG)}</pre>`;
}

function runActs(view: View, { job, scope, periodKey: period, state, nextAttemptAt }: Run): Html {
  const hidden = { job, scope, period };
  const isDue = state === 'pending' || (state === 'failed' && nextAttemptAt !== undefined);
  const canSkip = state === 'pending' || state === 'failed' || state === 'interrupted';
  return html`<div class="acts">
    ${isDue ? '' : actForm(view, 'rerun', { hidden: { ...hidden, force: 'yes' } })}
    ${state === 'interrupted' ? actForm(view, 'resolve', { hidden }) : ''}
    ${canSkip ? actForm(view, 'skip', { hidden }) : ''}
  </div>`;
}
