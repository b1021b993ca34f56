import { VERSION } from '../core/version';
import { ACTS } from '../operations/acts';
import { html, raw } from './vendor';
import { current, type Html, type Page } from './parts';
import type { View } from './view';

/** Behind the name of an act that was done, but not recorded. */
export const UNRECORDED = '.unrecorded';

/** The body of a page: what the script replaces when it has changed. */
export async function mainOf(view: View, { title, beside = '', body }: Page): Promise<string> {
  const done = ACTS.get(view.done?.replace(UNRECORDED, '') ?? '')?.done;
  const note = view.done?.endsWith(UNRECORDED)
    ? ' It is not recorded: a warning of the guard has the reason.'
    : '';
  const error = view.sent?.error ?? view.sent?.confirmation?.text;
  const content = await html`<div class="bar">
      <h1>${title}</h1>
      ${beside}
    </div>
    ${done === undefined ? '' : html`<p class="done ok" role="status">${done}${note}</p>`} ${body}`;
  // A form that the page no longer has cannot show it.
  const isInForm = content.includes('class="sent"');
  const main = await html`<main id="main">
    ${error === undefined || isInForm ? '' : html`<p class="error" role="alert">${error}</p>`} ${content}
  </main>`;
  // A String object would not be equal to another one.
  return main.toString();
}

export function documentOf(view: View | undefined, title: string, main: string): Html {
  const isLocks = ['lock', 'locks'].some((name) => view?.query.has(name));
  const { actor = 'unnamed', level } = view?.access ?? {};
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
          <strong>◷ cronlatch</strong>
          <nav aria-label="Pages">
            <a href="?" ${current(!isLocks, 'page')}>Jobs</a>
            <a href="?locks=held" ${current(isLocks, 'page')}>Locks</a>
          </nav>
          <p id="connection" role="status"></p>
          ${
            view === undefined
              ? ''
              : html`<p class="mute">times in ${view.timeZone}</p>
                  <p class="stat off" title="${actor} may ${level}">
                    ${actor}${level === 'operate' ? '' : ': reads only'}
                  </p>`
          }
        </header>
        ${raw(main)}
      </body>
    </html>`;
}
