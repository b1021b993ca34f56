import { setImmediate as turn } from 'node:timers/promises';
import { relative, shortTime } from '../guard/log/time-texts';
import type { ActQuery } from '../ledger';
import { timeText } from '../ledger/operator/state-of-run';
import { stateCell, stateOfAct, subjectOfAct, type Tone } from '../operations/state-texts';
import { html, raw } from './vendor';
import { newestActs, type View } from './view';

/** A part of a page. Values are escaped, also a part that is a string. */
export type Html = ReturnType<typeof html> | string;

export interface Page {
  readonly title: string;
  /** On the tab of the browser. Default: the title */
  readonly tab?: string;
  /** In the line of the title. */
  readonly beside?: Html;
  readonly body: Html;
}

/** An address of the dashboard. It has no path, so that the dashboard works under any. */
export function linkTo(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, String(value));
  return `?${query.toString()}`;
}

const TOKENS: Readonly<Record<Tone, string>> = {
  red: 'failed',
  yellow: 'hold',
  green: 'ok',
  cyan: 'run',
  dim: 'off',
};

/** The class that gives a state its colour, and its symbol. */
export function tokenOf(state: string): readonly [token: string, symbol: string] {
  const [tone, text] = stateCell(state);
  return [state === 'missed' || state === 'late' ? 'missed' : TOKENS[tone], text[0] ?? ''];
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function pill(state: string, more = ''): Html {
  return html`<span class="pill ${tokenOf(state)[0]}">${capital(state)}${more}</span>`;
}

/** How long ago, with the time. The script counts it on. */
export function timeOf(instant: Date | undefined, { timeZone, now }: View): Html {
  if (instant === undefined) return '–';
  const text = timeText(instant, timeZone);
  const ms = instant.getTime() - now.getTime();
  // A text that changed with each second would never be the same.
  const near = ms > 0 ? 'in a moment' : 'just now';
  const shown = Math.abs(ms) < 60_000 ? near : relative(instant, now);
  return html`<time datetime="${instant.toISOString()}" title="${text}">${shown}</time>`;
}

/** By the clock: `03:00` today, `Wed 03:00`, `26 Nov 03:00`. */
export function clockOf(instant: Date | undefined, { timeZone, now }: View, hasSeconds = false): Html {
  if (instant === undefined) return '–';
  const [iso, text] = [instant.toISOString(), timeText(instant, timeZone)];
  const short = shortTime(instant, timeZone, now);
  // A day of another year has no time.
  const shown = hasSeconds ? short.replace(/ ?\d\d:\d\d.*$|$/, ` ${text.slice(11, 19)}`).trim() : short;
  return html`<time class="clock" datetime="${iso}" title="${text}">${shown}</time>`;
}

const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d{3}Z)?$/;
const DAY = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

/** A period for people: `Thu, 26 Nov`, or the time of a tick. Others as their keys. */
export function periodText(key: string, view: View): Html {
  const at = new Date(INSTANT.test(key) ? key : NaN);
  if (Number.isNaN(at.getTime())) return key;
  return key.includes('T') ? clockOf(at, view) : DAY.format(at);
}

/** After so many rows, other work of the process has its turn. */
const ROWS_A_TURN = 20;

/** Calls a function for each, and gives way between. */
export async function eachInTurn<T, R>(all: readonly T[], one: (each: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (const [index, each] of all.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await turn();
    results.push(one(each));
  }
  return results;
}

/** A part of a page with a heading, and what is beside that. */
export function card(title: string, body: Html, beside?: Html): Html {
  const head = html`<h2>${title}</h2>`;
  return html`<section class="card">
    ${beside ? html`<div class="bar">${head} ${beside}</div>` : head} ${body}
  </section>`;
}

/** Terms with their values. Those without a value are left out. */
export function factsOf(pairs: readonly (readonly [term: string, value: Html | false | undefined])[]): Html {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== false);
  return html`<dl>
    ${shown.map(
      ([term, value]) =>
        html`<dt>${term}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

/** Marks a link to what is shown. */
export function current(is: boolean, what: 'true' | 'page' = 'true'): Html {
  return is ? raw(`aria-current="${what}"`) : '';
}

/** What can be wider than its page. It can be reached by Tab, so that the arrow keys scroll it. */
export function scroll(name: string, content: Html): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${name}">${content}</div>`;
}

export function tableOf(name: string, columns: readonly string[], rows: readonly Html[]): Html {
  const table = html`<table>
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col">${column}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
  return scroll(name, table);
}

/** A row of a table. Its heading is its first cell. */
export function rowOf(cells: readonly (Html | undefined)[], heading?: Html): Html {
  return html`<tr>
    ${heading && html`<th scope="row">${heading}</th>`} ${cells.map((cell) => html`<td>${cell}</td>`)}
  </tr>`;
}

const ACTS_SHOWN = 20;

/** Who did what, and why. */
export async function actsOf(view: View, of: Pick<ActQuery, 'job' | 'lock'>): Promise<Html> {
  const acts = await newestActs(view, { ...of, limit: ACTS_SHOWN });
  if (acts.length === 0) return '';
  const rows = acts.map((act) => {
    const [what, state] = [`${act.verb} ${subjectOfAct(act)}`, stateOfAct(act, view.now)];
    return rowOf([clockOf(act.at, view), what, act.actor, state, act.reason]);
  });
  return card(
    'Acts of operators',
    tableOf('Acts of operators', ['When', 'Act', 'By', 'State', 'Reason'], rows),
  );
}
