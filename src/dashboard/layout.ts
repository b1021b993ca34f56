import { LockStorageError, noneAfter, SchemaMismatchError } from '../core';
import type { JobGuard } from '../guard';
import { operations, type Overview } from '../operations';
import { ACTS, actOf } from '../operations/acts';
import type { Confirmation, Field, Verb } from '../operations/acts/act';
import { catalogIfAny, type JobCatalog } from '../operations/job-catalog';
import { relative, sharedZone } from '../guard/log/time-texts';
import type { WhenOfJob } from '../operations/overview';
import { zoneOf } from '../ledger/known-register';
import type { ActQuery } from '../ledger';
import { stateCell, stateOfAct, subjectOfAct } from '../operations/state-texts';
import { commandText, type Remedy } from '../ledger/operator/remedy';
import { timeText } from '../ledger/operator/state-of-run';
import { VERSION } from '../core/version';
import type { Access } from './options';
import type { CachedReads } from './cached-reads';
import { html, raw } from './vendor';

/** A part of a page. Values are escaped. */
export type Html = ReturnType<typeof html>;

/** A form that was sent and comes back. */
export interface SentForm {
  readonly values: Readonly<Record<string, string>>;
  readonly error?: string | undefined;
  readonly confirmation?: Confirmation | undefined;
}

export interface View {
  readonly guard: JobGuard;
  readonly reads: CachedReads;
  readonly query: URLSearchParams;
  /** Of all times. */
  readonly timeZone: string;
  readonly when: WhenOfJob;
  /** The time of what a page shows: that of the database, or else that of this host. */
  readonly now: Date;
  readonly access: Access;
  readonly token: string;
  readonly hidesResults: boolean;
  readonly sent?: SentForm | undefined;
  readonly done?: string | undefined;
}

export interface Page {
  readonly title: string;
  readonly body: Html;
}

/** The address names something that does not exist. */
export class NotFoundError extends Error {}

export async function knownJobs({
  reads,
  guard,
}: Pick<View, 'reads' | 'guard'>): Promise<JobCatalog | undefined> {
  return await reads.read('jobs', () => catalogIfAny(guard));
}

/** That which all jobs have, or else UTC. `undefined` if the database of the runs fails: the pages of locks are shown then, too. */
export async function zoneOfJobs(source: Pick<View, 'reads' | 'guard'>): Promise<string | undefined> {
  const known = await knownJobs(source).catch(noneAfter(LockStorageError, SchemaMismatchError));
  const zones = known?.register?.jobs.map(({ declared }) => zoneOf(declared));
  return known && sharedZone(zones ?? [], 'UTC');
}

export async function overviewOf({ reads, guard, when }: View): Promise<Overview> {
  return await reads.read('overview', () => operations(guard).overview({ when }));
}

/** An address of the dashboard. It has no path, so that the dashboard works under any. */
export function linkTo(parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value);
  return `?${query.toString()}`;
}

export function stateText(state: string, more = ''): Html {
  const [tone, text] = stateCell(state);
  return html`<span class="state ${tone}">${text}${more}</span>`;
}

/** How long ago, with the time. */
export function timeOf(instant: Date | undefined, { timeZone, now }: View): Html | string {
  if (instant === undefined) return '–';
  const text = timeText(instant, timeZone);
  const ms = instant.getTime() - now.getTime();
  // A text that changed with each second would never be the same.
  const near = ms > 0 ? 'in a moment' : 'just now';
  const shown = Math.abs(ms) < 60_000 ? near : relative(instant, now);
  return html`<time datetime="${instant.toISOString()}" title="${text}">${shown}</time>`;
}

/** A command of the command line that does the same. */
export function commandHint(remedy: Remedy | undefined): Html | string {
  return remedy ? html`<code class="command">npx ${commandText(remedy)}</code>` : '';
}

export function tableOf(columns: readonly string[], rows: readonly Html[]): Html {
  return html`<table>
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col">${column}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

interface FormOptions {
  /** What the act is about, and other values that the operator does not choose. */
  readonly hidden: Readonly<Record<string, string | undefined>>;
  /** What fields have at first. */
  readonly values?: Readonly<Record<string, string | undefined>>;
  /** The fields that do not apply. */
  readonly without?: readonly string[];
}

const REASON: Field = { name: 'reason', kind: 'text', description: '', label: 'Reason', required: true };

const ACTS_SHOWN = 20;

/** Who did what, and why. */
export async function actsOf(view: View, of: Pick<ActQuery, 'job' | 'lock'>): Promise<Html | string> {
  const known = await knownJobs(view);
  const acts = await view.reads.read(
    `acts ${of.job} ${of.lock}`,
    async () => await known?.acts({ ...of, limit: ACTS_SHOWN }),
  );
  if (!acts?.length) return '';
  const rows = acts.map(
    (act) =>
      html`<tr>
        <td>${timeOf(act.at, view)}</td>
        <td>${act.verb} ${subjectOfAct(act)}</td>
        <td>${act.actor}</td>
        <td>${stateOfAct(view.hidesResults ? { ...act, outcome: undefined } : act, view.now)}</td>
        <td>${act.reason}</td>
      </tr>`,
  );
  return html`<h2>Acts of operators</h2>
    ${tableOf(['When', 'Act', 'By', 'State', 'Reason'], rows)}`;
}

/** The form of an act, with a reason. Only for those who may operate. */
export function actForm(
  view: View,
  verb: Verb,
  { hidden, values: first = {}, without = [] }: FormOptions,
): Html | string {
  if (view.access.level !== 'operate') return '';
  const { label, effect, fields: all } = actOf(verb);
  const sent = view.sent?.values['act'] === verb ? view.sent : undefined;
  const { confirmation, error, values = {} } = sent ?? {};
  const fields = all.filter(
    ({ name, label: shown }) => shown && !without.includes(name) && !(name in hidden),
  );
  return html`<form method="post" action="#${verb}" id="${verb}" class="${sent ? 'act sent' : 'act'}">
    <p>${effect}</p>
    ${error === undefined ? '' : html`<p class="error" role="alert">${error}</p>`}
    ${Object.entries({ ...hidden, act: verb, token: view.token }).map(([name, value]) => hiddenField(name, value))}
    ${[...fields, REASON].map((field) => fieldOf(verb, field, values[field.name] ?? first[field.name]))}
    ${confirmation === undefined ? '' : confirmationOf(confirmation)}
    <button type="submit">${confirmation === undefined ? label : `${label}: confirm`}</button>
  </form>`;
}

function hiddenField(name: string, value: string | undefined): Html | string {
  return value === undefined ? '' : html`<input type="hidden" name="${name}" value="${value}" />`;
}

function confirmationOf({ text, items = [], value }: Confirmation): Html {
  return html`<div class="confirm" role="alert">
    <p>${text}</p>
    ${
      items.length === 0
        ? ''
        : html`<ul>
            ${items.map((item) => html`<li>${item}</li>`)}
          </ul>`
    }
    <label
      ><input type="checkbox" name="confirmed" value="${value}" required /> Yes, I have checked this.</label
    >
  </div>`;
}

function fieldOf(act: string, { name, kind, label, choices, required, hint }: Field, value = ''): Html {
  const id = `${act}-${name}`;
  const [type, must] = [kind === 'date' ? kind : 'text', required ? 'required' : ''];
  const control = choices
    ? html`<select id="${id}" name="${name}">
        ${choices.map((choice) => html`<option ${choice === value ? 'selected' : ''}>${choice}</option>`)}
      </select>`
    : html`<input id="${id}" name="${name}" type="${type}" value="${value}" ${must} autocomplete="off" />`;
  return html`<p class="field">
    <label for="${id}">${label}</label> ${control}${hint ? html` <small>${hint}</small>` : ''}
  </p>`;
}

/** Behind the name of an act that was done, but not recorded. */
export const UNRECORDED = '.unrecorded';

/** The body of a page: what the script replaces when it has changed. */
export async function mainOf(view: View, { title, body }: Page): Promise<string> {
  const done = ACTS.get(view.done?.replace(UNRECORDED, '') ?? '')?.done;
  const note = view.done?.endsWith(UNRECORDED)
    ? ' It is not recorded: a warning of the guard has the reason.'
    : '';
  const { values, error } = view.sent ?? {};
  // A form that the page no longer has cannot show it.
  const isInForm = (await body).includes(`id="${values?.['act'] ?? ''}" class="act sent"`);
  const main = await html`<main id="main">
    <h1>${title}</h1>
    ${done === undefined ? '' : html`<p class="done" role="status">${done}${note}</p>`}
    ${error === undefined || isInForm ? '' : html`<p class="error" role="alert">${error}</p>`} ${body}
  </main>`;
  // A String object would not be equal to another one.
  return main.toString();
}

export function documentOf(
  view: Pick<View, 'access' | 'timeZone'> | undefined,
  title: string,
  main: string,
): Html {
  const who = view?.access.actor ?? 'unnamed';
  const level = view?.access.level === 'operate' ? 'may operate' : 'may read';
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – cronlatch</title>
        <link rel="icon" href="?asset=icon" />
        <link rel="stylesheet" href="?asset=style&v=${VERSION}" />
        ${view === undefined ? '' : html`<script src="?asset=script&v=${VERSION}" defer></script>`}
      </head>
      <body>
        <header>
          <nav aria-label="Pages"><a href="?">Overview</a> <a href="?locks=held">Locks</a></nav>
          <p>${view === undefined ? '' : `${who} ${level} · times in ${view.timeZone}`}</p>
          <p id="connection" role="status"></p>
        </header>
        ${raw(main)}
      </body>
    </html>`;
}
