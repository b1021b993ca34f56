import type { JobOverview } from '../operations';
import { DAY_MS } from '../core/duration';
import type { DeclaredJob } from '../ledger';
import { scheduleOf } from '../ledger/expected';
import { describeSchedule } from '../ledger/job-register';
import { timeText } from '../ledger/operator/state-of-run';
import { BoundedCache } from '../ledger/periods/bounded-cache';
import type { JobCatalog } from '../operations/job-catalog';
import { countText } from '../operations/state-texts';
import { card, eachInTurn, scroll, type Html } from './parts';
import { html, inWords } from './vendor';
import type { View } from './view';

const [MOST_TICKS, MOST_LINES, LINE, NAMES, WIDTH] = [24, 12, 18, 200, 1180];
const HOUR_MS = 3_600_000;

/** The first times of a job from the start of an hour on, for 25 hours. */
const ticks = new BoundedCache<readonly number[]>(2000);

function ticksSince(hour: number, { schedules }: DeclaredJob): readonly number[] {
  return ticks.get(`${hour} ${JSON.stringify(schedules)}`, () => {
    const [schedule, found] = [scheduleOf({ schedules }), new Array<number>()];
    const isIn = (at: Date | undefined): at is Date =>
      at !== undefined && at.getTime() < hour + DAY_MS + HOUR_MS;
    for (
      let at = schedule?.next(new Date(hour - 1));
      isIn(at) && found.length < MOST_TICKS + 2;
      at = schedule?.next(at)
    )
      found.push(at.getTime());
    return found;
  });
}

/** The scheduled times of the next 24 hours: a line for each job, and one for all jobs that run often. */
export async function nextHours(view: View, known: JobCatalog, jobs: readonly JobOverview[]): Promise<Html> {
  const now = view.now.getTime();
  const timesOf = ({ job, state, nextScheduledAt }: JobOverview) => {
    const declared = known.get(job)?.declared;
    if (!declared || !nextScheduledAt || state === 'disabled' || state === 'paused') return [];
    const all = ticksSince(Math.floor(now / HOUR_MS) * HOUR_MS, declared);
    const isOften = all.length > MOST_TICKS + 1;
    const times = all.filter((at) => at > now && at <= now + DAY_MS);
    return [{ job, isOften, times, next: nextScheduledAt.getTime() }];
  };
  const due = (await eachInTurn(jobs, timesOf)).flat();
  const often = due.filter(({ isOften }) => isOften);
  const rare = due.filter(({ isOften, times }) => !isOften && times.length > 0);
  rare.sort((a, b) => (a.times[0] ?? 0) - (b.times[0] ?? 0));
  if (rare.length + often.length === 0) return '';
  const shown = rare.slice(0, MOST_LINES);
  const more = rare.length - shown.length;
  const xOf = (at: number): number => NAMES + Math.round(((at - now) / DAY_MS) * (WIDTH - NAMES - 50));
  const clock = (at: number): string => timeText(new Date(at), view.timeZone).slice(11, 16);
  const bottom = shown.length * LINE + 4;
  const hours = Array.from(
    { length: 8 },
    (_, index) => Math.ceil(now / HOUR_MS) * HOUR_MS + index * 3 * HOUR_MS,
  );
  const nameOf = (job: string): string => (job.length > 28 ? `${job.slice(0, 27)}…` : job);
  const lineOf = ({ job, times }: (typeof due)[number], line: number): Html => {
    const y = line * LINE;
    const marks = times.map(
      (at) =>
        html`<rect x="${xOf(at)}" y="${y + 3}" width="4" height="14" rx="2"
          ><title>${job} ${clock(at)}</title></rect
        >`,
    );
    const [first = 0, ...others] = times;
    const label = html`<text x="${xOf(first) + 8}" y="${y + 14}">${clock(first)}</text>`;
    return html`<text x="0" y="${y + 14}">${nameOf(job)}</text
      ><g class="run">${marks}</g>${others.length === 0 ? label : ''}`;
  };
  const text = shown.map(({ job, times }) => `${job} ${times.map(clock).join(', ')}`).join('; ');
  const chart = html`<svg width="${WIDTH}" height="${bottom + 20}" role="img" aria-label="${text}">
    ${hours.map((at) => html`<path class="axis" d="M${xOf(at)} 0V${bottom}" /><text x="${xOf(at)}" y="${bottom + 14}">${clock(at)}</text>`)}
    ${shown.map(lineOf)}
  </svg>`;
  const names = often
    .slice(0, MOST_LINES)
    .map(({ job, next }) => `${job} (next ${clock(next)})`)
    .join(', ');
  const others = often.length > MOST_LINES ? ` and ${often.length - MOST_LINES} more` : '';
  const body = html`${shown.length > 0 ? scroll('Next 24 hours', chart) : ''}
    <p class="mute">
      ${more > 0 ? `And ${countText(more, 'job')} later. ` : ''}${often.length > 0 ? `More than ${MOST_TICKS} times: ${names}${others}.` : ''}
    </p>`;
  return card('Next 24 hours', body, html`<span class="mute">from ${clock(now)}</span>`);
}

/** Each schedule in words. An expression that only node-cron knows stays as it is. */
export function scheduleWords(declared: DeclaredJob | undefined, hasZone = false): string {
  const texts = (declared?.schedules ?? []).map((schedule) => {
    if (!('expression' in schedule)) return describeSchedule(schedule);
    const { expression, timeZone } = schedule;
    const words = inWords(expression, { throwExceptionOnParseError: false, use24HourTimeFormat: true });
    const text = words.startsWith('An error') ? expression : words.replace(/^At (?=\d\d:)/, '');
    return hasZone && timeZone ? `${text}, ${timeZone} (${expression})` : text;
  });
  return texts.join('; ');
}
