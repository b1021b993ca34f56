import { InvalidLockConfigurationError, LockStorageError, noneAfter, SchemaMismatchError } from '../core';
import type { JobGuard } from '../guard';
import { operations, type Overview } from '../operations';
import { JobCatalog } from '../operations/job-catalog';
import { relative, sharedZone } from '../guard/log/time-texts';
import type { WhenOfJob } from '../operations/overview';
import { zoneOf } from '../ledger/known-register';
import { stateCell } from '../operations/state-texts';
import { commandText, type Remedy } from '../ledger/operator/remedy';
import { timeText } from '../ledger/operator/state-of-run';
import { VERSION } from '../core/version';
import type { Access } from './options';
import type { CachedReads } from './cached-reads';
import { html, raw } from './vendor';

/** A part of a page. Values are escaped. */
export type Html = ReturnType<typeof html>;

/** What an act needs before it is done: a second answer of the operator. */
export interface Confirmation {
  readonly text: string;
  readonly items?: readonly string[];
  /** What the form must send as `confirmed`. */
  readonly value: string;
}

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

/** `undefined` for a guard that keeps no runs. */
export async function knownJobsOf(guard: JobGuard): Promise<JobCatalog | undefined> {
  return await JobCatalog.of(guard).catch(noneAfter(InvalidLockConfigurationError));
}

export async function knownJobs({
  reads,
  guard,
}: Pick<View, 'reads' | 'guard'>): Promise<JobCatalog | undefined> {
  return await reads.read('jobs', () => knownJobsOf(guard));
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

export interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'date' | 'checkbox';
  readonly value?: string | undefined;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly hint?: string;
}

export interface FormOptions {
  readonly act: string;
  /** On the button. */
  readonly label: string;
  /** What follows, in sentences. */
  readonly effect: string;
  readonly hidden?: Readonly<Record<string, string | undefined>>;
  readonly fields?: readonly FieldOptions[];
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

/** A form of an act, with a reason. Only for those who may operate. */
export function actForm(
  view: View,
  { act, label, effect, hidden = {}, fields = [] }: FormOptions,
): Html | string {
  if (view.access.level !== 'operate') return '';
  const sent = view.sent?.values['act'] === act ? view.sent : undefined;
  const { confirmation, error, values = {} } = sent ?? {};
  const reason: FieldOptions = { name: 'reason', label: 'Reason', required: true };
  return html`<form method="post" action="#${act}" id="${act}" class="${sent ? 'act sent' : 'act'}">
    <p>${effect}</p>
    ${error === undefined ? '' : html`<p class="error" role="alert">${error}</p>`}
    ${Object.entries({ ...hidden, act, token: view.token }).map(([name, value]) => hiddenField(name, value))}
    ${[...fields, reason].map((field) => fieldOf(act, { ...field, value: values[field.name] ?? field.value }))}
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

function fieldOf(
  act: string,
  { name, label, type = 'text', value = '', choices, required, hint }: FieldOptions,
): Html {
  const id = `${act}-${name}`;
  const must = required ? 'required' : '';
  const control = choices
    ? html`<select id="${id}" name="${name}">
        ${choices.map((choice) => html`<option ${choice === value ? 'selected' : ''}>${choice}</option>`)}
      </select>`
    : html`<input id="${id}" name="${name}" type="${type}" value="${value}" ${must} autocomplete="off" />`;
  return html`<p class="field">
    <label for="${id}">${label}</label> ${control}${hint ? html` <small>${hint}</small>` : ''}
  </p>`;
}

const DONE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    run: 'Requested. An instance starts the job at its next check for overdue runs.',
    pause: 'Paused: no instance starts the job.',
    resume: 'Resumed: overdue runs start at the next check.',
    rerun: 'Recorded: the run is due at once.',
    resolve: 'Recorded.',
    skip: 'Recorded: no instance runs this period.',
    backfill: 'Added: instances start these runs at their next check.',
    hold: 'Held: no instance starts a job of this lock.',
    unhold: 'The hold has ended.',
    release: 'Released.',
    forget: 'Forgotten.',
  }),
);

/** The body of a page: what the script replaces when it has changed. */
export async function mainOf(view: View, { title, body }: Page): Promise<string> {
  const done = DONE.get(view.done ?? '');
  const { values, error } = view.sent ?? {};
  // A form that the page no longer has cannot show it.
  const isInForm = (await body).includes(`id="${values?.['act'] ?? ''}" class="act sent"`);
  const main = await html`<main id="main">
    <h1>${title}</h1>
    ${done === undefined ? '' : html`<p class="done" role="status">${done}</p>`}
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
