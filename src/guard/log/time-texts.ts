export function describeDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** How far an instant is from now, in the largest unit: `2 h ago` or `in 3 d`. */
export function relative(instant: Date | undefined, now: Date): string | undefined {
  if (instant === undefined) return undefined;
  const ms = instant.getTime() - now.getTime();
  const [unit, length] = UNITS.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? ['s', 1000];
  const text = `${Math.floor(Math.abs(ms) / length)} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatIn(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const date = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-GB', { ...date, ...time, timeZoneName: 'longOffset', timeZone });
  } catch {
    format = formatIn('UTC'); // A host with newer time zone data has recorded it.
  }
  formats.set(timeZone, format);
  return format;
}

/** The zone of the short times: UTC, if this host does not know the given one. */
function zoneShown(timeZone: string): string {
  return formatIn(timeZone) === formatIn('UTC') ? 'UTC' : timeZone;
}

function wallTime(instant: Date, timeZone: string) {
  const all = formatIn(timeZone).formatToParts(instant);
  const of = (type: Intl.DateTimeFormatPartTypes): string =>
    all.find((part) => part.type === type)?.value ?? '';
  const day = `${of('day')} ${of('month').slice(0, 3)}`;
  const time = `${of('hour')}:${of('minute')}`;
  const [second, offset] = [`${time}:${of('second')}`, of('timeZoneName').replace('GMT', '')];
  return { weekday: of('weekday'), day, year: of('year'), time, second, offset };
}

const MINUTE_MS = 60_000;

/** The time zone of the texts about several jobs: theirs, if they agree. */
export function sharedZone(zones: Iterable<string | undefined>, otherwise: string): string {
  const [zone = otherwise, ...others] = new Set([...zones].filter((each) => each !== undefined));
  return zoneShown(others.length > 0 ? otherwise : zone);
}

/** For a table: `03:00` today, `Wed 03:00`, `26 Nov 03:00` or `26 Nov 2025`. In an hour that the clocks repeat, with the offset. */
export function shortTime(instant: Date, timeZone: string, now: Date): string {
  const [day, clock] = dayAndClock(instant, timeZone, now);
  return /\d{4}$/.test(day) ? day : `${day} ${clock}`.trim();
}

/** The same behind a verb: `at 03:00`, `on Wed at 03:00`. A time within ten minutes has its seconds. */
export function spokenTime(instant: Date | undefined, timeZone: string, now: Date): string {
  if (instant === undefined) return 'at an unknown time';
  const [day, minute] = dayAndClock(instant, timeZone, now);
  const isNear = Math.abs(instant.getTime() - now.getTime()) < 10 * MINUTE_MS;
  const clock = isNear ? minute.replace(/^\d\d:\d\d/, wallTime(instant, timeZone).second) : minute;
  return `${day && `on ${day} `}at ${clock}`;
}

function dayAndClock(instant: Date, timeZone: string, now: Date): readonly [day: string, clock: string] {
  if (Number.isNaN(instant.getTime())) return ['', '-'];
  const { weekday, day, year, time, offset } = wallTime(instant, timeZone);
  const today = wallTime(now, timeZone);
  const isRepeated = [-60, -30, 30, 60].some((minutes) => {
    const other = wallTime(new Date(instant.getTime() + minutes * MINUTE_MS), timeZone);
    return other.time === time && other.day === day;
  });
  const clock = isRepeated ? `${time}${offset}` : time;
  const days = (Date.parse(`${day} ${year} UTC`) - Date.parse(`${today.day} ${today.year} UTC`)) / 86_400_000;
  if (days === 0) return ['', clock];
  // A weekday that is past and to come would be two days.
  if (days > -7 && days <= 1) return [weekday, clock];
  return [Math.abs(days) < 300 ? day : `${day} ${year}`, clock];
}
