import { describeValue } from '../core/describe-value';
import { InvalidLockConfigurationError } from '../core/errors';

/** The time from `fromMs` until `toMs`, during which a zone's wall clock is `offsetMs` ahead of UTC. */
export interface OffsetStretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly offsetMs: number;
}

/** No zone was ever further from UTC: Manila had −15:56, Alaska +15:13. */
export const MOST_OFFSET_MS = 16 * 3_600_000;

/** Two changes that cancel each other would be missed only within this time. The nearest that there were lie a week apart. */
const PROBE_EVERY_MS = 8 * 3_600_000;

const NAME = /^[a-z][\w+/-]*$/i;
/** Of the three-letter names only these are IANA's. The others are abbreviations, of which ICU takes BST for Dhaka's. */
const SHORT_NAMES = new Set('UTC GMT UCT CET EET MET WET EST MST HST PRC ROC ROK'.split(' '));
const REMEDY = `use a name of the IANA time zone database, such as 'Europe/Paris' or 'UTC'`;

/** By lower-case name, as zone names have no case: there are never more than the database has names. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/** @throws InvalidLockConfigurationError for what is not the name of a zone */
export function checkTimeZone(timeZone: string): void {
  formatterOf(timeZone);
}

/** The stretches that make up the time from `fromMs` until `toMs`, in whole milliseconds. */
export function offsetStretches(timeZone: string, fromMs: number, toMs: number): OffsetStretch[] {
  const formatter = formatterOf(timeZone);
  const stretches: OffsetStretch[] = [];
  let offsetMs = offsetMsAt(formatter, fromMs);
  let beganMs = fromMs;
  for (let atMs = fromMs; atMs < toMs - 1;) {
    const probeMs = Math.min(atMs + PROBE_EVERY_MS, toMs - 1);
    if (offsetMsAt(formatter, probeMs) === offsetMs) {
      atMs = probeMs;
      continue;
    }
    const changeMs = firstChange(formatter, atMs, probeMs, offsetMs);
    stretches.push({ fromMs: beganMs, toMs: changeMs, offsetMs });
    offsetMs = offsetMsAt(formatter, changeMs);
    beganMs = atMs = changeMs;
  }
  return [...stretches, { fromMs: beganMs, toMs, offsetMs }];
}

/** Bisects: the offset is `offsetMs` at `sameMs` and another at `otherMs`. */
function firstChange(
  formatter: Intl.DateTimeFormat,
  sameMs: number,
  otherMs: number,
  offsetMs: number,
): number {
  let [before, after] = [sameMs, otherMs];
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2);
    if (offsetMsAt(formatter, middle) === offsetMs) before = middle;
    else after = middle;
  }
  // Clocks change on whole seconds of UTC, and one lies in here.
  return Math.floor(after / 1000) * 1000;
}

/** Seconds are there for offsets that have them: Monrovia kept −00:44:30 until 1972. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

function offsetMsAt(formatter: Intl.DateTimeFormat, atMs: number): number {
  const text = formatter.format(atMs);
  const match = OFFSET.exec(text);
  if (match === null) throw new Error(`Intl answered '${text}', in which no offset from GMT was found.`);
  const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = match;
  const offsetMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -offsetMs : offsetMs;
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  if (typeof timeZone !== 'string' || !NAME.test(timeZone)) refuse(timeZone);
  const key = timeZone.toLowerCase();
  const known = formatters.get(key);
  if (known !== undefined) return known;
  if (/^[a-z]{3}$/.test(key) && !SHORT_NAMES.has(key.toUpperCase())) refuse(timeZone);
  const made = makeFormatter(timeZone);
  formatters.set(key, made);
  return made;
}

function makeFormatter(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch (cause) {
    return refuse(timeZone, cause);
  }
}

function refuse(timeZone: unknown, cause?: unknown): never {
  if (typeof timeZone === 'string' && /^[+-]\d|^(UTC|GMT)[+-]\d/i.test(timeZone)) {
    throw new InvalidLockConfigurationError(
      `timeZone is ${describeValue(timeZone)}, an offset, which knows no clock changes: ${REMEDY}, or 'Etc/GMT-1' for one hour east of UTC for ever.`,
      { cause },
    );
  }
  throw new InvalidLockConfigurationError(
    `timeZone is ${describeValue(timeZone)}, which is not a time zone: ${REMEDY}.`,
    { cause },
  );
}
