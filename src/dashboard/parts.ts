import { relative } from '../guard/log/time-texts';
import type { ActQuery } from '../ledger';
import { commandText, type Remedy } from '../ledger/operator/remedy';
import { timeText } from '../ledger/operator/state-of-run';
import { stateCell, stateOfAct, subjectOfAct } from '../operations/state-texts';
import { html } from './vendor';
import { newestActs, type View } from './view';

/** A part of a page. Values are escaped, also a part that is a string. */
export type Html = ReturnType<typeof html> | string;

export interface Page {
  readonly title: string;
  readonly body: Html;
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
export function timeOf(instant: Date | undefined, { timeZone, now }: View): Html {
  if (instant === undefined) return '–';
  const text = timeText(instant, timeZone);
  const ms = instant.getTime() - now.getTime();
  // A text that changed with each second would never be the same.
  const near = ms > 0 ? 'in a moment' : 'just now';
  const shown = Math.abs(ms) < 60_000 ? near : relative(instant, now);
  return html`<time datetime="${instant.toISOString()}" title="${text}">${shown}</time>`;
}

/** A command of the command line that does the same. */
export function commandHint(remedy: Remedy | undefined): Html {
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

const ACTS_SHOWN = 20;

/** Who did what, and why. */
export async function actsOf(view: View, of: Pick<ActQuery, 'job' | 'lock'>): Promise<Html> {
  const acts = await newestActs(view, { ...of, limit: ACTS_SHOWN });
  if (acts.length === 0) return '';
  const rows = acts.map(
    (act) =>
      html`<tr>
        <td>${timeOf(act.at, view)}</td>
        <td>${act.verb} ${subjectOfAct(act)}</td>
        <td>${act.actor}</td>
        <td>${stateOfAct(act, view.now)}</td>
        <td>${act.reason}</td>
      </tr>`,
  );
  return html`<h2>Acts of operators</h2>
    ${tableOf(['When', 'Act', 'By', 'State', 'Reason'], rows)}`;
}
