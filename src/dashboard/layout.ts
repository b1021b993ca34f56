import { VERSION } from '../core/version';
import { ACTS } from '../operations/acts';
import { html, raw } from './vendor';
import type { Html, Page } from './parts';
import type { View } from './view';

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

export function documentOf(view: View | undefined, title: string, main: string): Html {
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
