import { NOT_KEPT, TO_COME, type Day, type Days } from '../operations/days';
import { quantile } from '../operations/durations';
import { shortDuration } from '../operations/state-texts';
import { linkTo, tokenOf, type Html } from './parts';
import { html, raw } from './vendor';

/** The class that gives a day its colour. */
function classOf({ state, isRetried }: Pick<Day, 'state' | 'isRetried'>): string {
  if (state === NOT_KEPT) return 'gone';
  if (state === TO_COME) return 'due';
  return state === 'completed' && isRetried ? 'hold retried' : tokenOf(state)[0];
}

/** The runs to look at, the newest first, as links. */
export function toCheck(job: string, days: Days): Html {
  const open = [...days].filter(
    ([, { state, period }]) => period && ['failed', 'interrupted', 'missed'].includes(state),
  );
  const links = open
    .sort()
    .reverse()
    .map(([date, { state, period, scope }]) => {
      const [token] = tokenOf(state);
      return html`<a class="stat ${token}" href="${linkTo({ job, period, scope })}">${state} ${date}</a> `;
    });
  return links.length > 0 ? html`<p class="btns">${links}</p>` : '';
}

function symbolOf(state: string): string {
  return ['completed', NOT_KEPT, TO_COME].includes(state) ? '' : tokenOf(state)[1];
}

/** What the cells mean. */
export function legend(): Html {
  const states = ['failed', 'interrupted', 'missed', 'running', 'pending', 'skipped', TO_COME, NOT_KEPT];
  const all = [
    ['completed', { state: 'completed' }] as const,
    ['after a retry', { state: 'completed', isRetried: true }] as const,
    ...states.map((state) => [state, { state }] as const),
  ];
  return html`<p class="bar mute">
    ${all.map(([text, day]) => html`<span class="bar"><span class="c ${classOf(day)}">${symbolOf(day.state)}</span> ${text}</span>`)}
  </p>`;
}

/** In words: how many runs had which state. */
function wordsOf({ state, tally, isRetried, tookMs }: Day): string {
  const took = tookMs === undefined ? '' : `, ${shortDuration(tookMs)}`;
  const [count, ...more] = tally.values();
  if (more.length === 0 && count === 1)
    return `${state}${isRetried && state === 'completed' ? ' after a retry' : ''}${took}`;
  return `${[...tally].map(([each, times]) => `${times} ${each}`).join(', ')}${took}`;
}

/** One string, because a template for each of 9,000 cells takes most of the time of a page. */
export function gridCells(job: string, dates: readonly string[], days: Days): Html {
  const [name, link] = [escaped(job), escaped(linkTo({ job }))];
  const cellOf = (date: string): string => {
    const day = days.get(date);
    if (day === undefined) return '<td></td>';
    const { state, period, scope } = day;
    const label = `${name} ${date} ${wordsOf(day)}`;
    const look = `class="c ${classOf(day)}" title="${label}"`;
    if (state === NOT_KEPT || state === TO_COME) return `<td><span ${look}></span></td>`;
    const run = Object.entries({ period, scope }).map(([key, value]) =>
      value ? `&amp;${key}=${encodeURIComponent(value)}` : '',
    );
    return `<td><a ${look} href="${link}${run.join('')}" aria-label="${label}">${symbolOf(state)}</a></td>`;
  };
  return raw(dates.map(cellOf).join(''));
}

/** Many days as one picture, with one text. */
export function daysPicture(dates: readonly string[], days: Days): Html {
  const paths = new Map<string, string>();
  const datesOf = new Map<string, string[]>();
  for (const [index, date] of dates.entries()) {
    const day = days.get(date);
    if (day === undefined || day.state === TO_COME) continue;
    const look = classOf(day);
    paths.set(look, `${paths.get(look) ?? ''}M${index * 4} 0h3v24h-3z`);
    datesOf.set(day.state, [...(datesOf.get(day.state) ?? []), date]);
  }
  const texts = [...datesOf].map(([state, of]) => {
    const isFew = state !== 'completed' && state !== NOT_KEPT && of.length <= 5;
    return `${state} ${of.length}${isFew ? ` (${of.join(', ')})` : ''}`;
  });
  return html`<svg
    width="100%"
    height="24"
    viewBox="0 0 ${dates.length * 4} 24"
    preserveAspectRatio="none"
    role="img"
    aria-label="${texts.join(', ') || 'no runs'}"
  >
    ${[...paths].map(([look, path]) => html`<path class="${look}" d="${path}" />`)}
  </svg>`;
}

/** The durations of the last 30 dates, with the middle one. */
export function durationsOf(dates: readonly string[], days: Days): Html {
  const took = dates.slice(-30).map((date) => days.get(date)?.tookMs);
  const known = took.filter((ms) => ms !== undefined);
  if (known.length === 0) return '';
  const longest = Math.max(...known, 1);
  const bars = took.map((ms, index) => {
    const height = ms === undefined ? 0 : Math.max(1, Math.round((ms / longest) * 20));
    return height === 0 ? '' : `M${index * 3} 20v-${height}h2v${height}z`;
  });
  return html`<svg width="60" height="20" viewBox="0 0 90 20" preserveAspectRatio="none" aria-hidden="true">
      <path d="${bars.join('')}" />
    </svg>
    ${shortDuration(quantile(known))}`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
