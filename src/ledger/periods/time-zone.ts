import { describeValue } from '../../core/options';
import { DAY_MS, HOUR_MS } from '../../core/duration';
import { InvalidLockConfigurationError } from '../../core/errors';
import { BoundedCache } from './bounded-cache';

/** The time from `fromMs` until `toMs`, during which a zone's wall clock is `offsetMs` ahead of UTC. */
export interface OffsetStretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly offsetMs: number;
}

/** No zone was ever further from UTC: Manila had −15:56, and Alaska +15:13. */
export const MOST_OFFSET_MS = 16 * HOUR_MS;

/** Two changes within this time that cancel each other would be missed. The closest two on record are a week apart. */
const PROBE_EVERY_MS = 8 * HOUR_MS;

const NAME = /^[a-z][\w+/-]*$/i;
/** Only these three-letter names are IANA's. All others are abbreviations: ICU takes BST for the time of Dhaka. */
const SHORT_NAMES = new Set('UTC GMT UCT CET EET MET WET EST MST HST PRC ROC ROK'.split(' '));
const REMEDY = `use a name of the IANA time zone database, such as 'Europe/Paris' or 'UTC'`;

/** By lower-case name, because zone names ignore case. The map never has more entries than the database has names. */
const formatters = new Map<string, Intl.DateTimeFormat>();

/**
 * @param option names the option in errors
 * @throws InvalidLockConfigurationError for a text that is not the name of a zone
 */
export function checkTimeZone(timeZone: string, option = 'timeZone'): void {
  formatterOf(timeZone, option);
}

/** The time that one lookup covers. Without blocks, a year of hours would call Intl tens of thousands of times. */
const BLOCK_MS = 32 * DAY_MS;
const LAST_MS = 8.64e15;
/** A year of one zone takes twelve. */
const blocks = new BoundedCache<readonly OffsetStretch[]>(5000);

/** The stretches that make up the time from `fromMs` until `toMs`, in whole milliseconds. */
export function offsetStretches(timeZone: string, fromMs: number, toMs: number): OffsetStretch[] {
  const found: OffsetStretch[] = [];
  for (let block = Math.floor(fromMs / BLOCK_MS); block * BLOCK_MS < toMs; block += 1)
    for (const stretch of stretchesOfBlock(timeZone, block)) {
      const part = {
        ...stretch,
        fromMs: Math.max(stretch.fromMs, fromMs),
        toMs: Math.min(stretch.toMs, toMs),
      };
      const last = found.at(-1);
      if (part.fromMs >= part.toMs) continue;
      if (last?.offsetMs === part.offsetMs) found[found.length - 1] = { ...last, toMs: part.toMs };
      else found.push(part);
    }
  return found;
}

function stretchesOfBlock(timeZone: string, block: number): readonly OffsetStretch[] {
  // No Date is later or earlier, and Intl accepts none.
  const within = (ms: number): number => Math.max(-LAST_MS, Math.min(ms, LAST_MS + 1));
  return blocks.get(`${timeZone.toLowerCase()} ${block}`, () =>
    probedStretches(timeZone, within(block * BLOCK_MS), within((block + 1) * BLOCK_MS)),
  );
}

function probedStretches(timeZone: string, fromMs: number, toMs: number): OffsetStretch[] {
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
    const changeMs = firstChange(formatter, atMs, probeMs);
    stretches.push({ fromMs: beganMs, toMs: changeMs, offsetMs });
    offsetMs = offsetMsAt(formatter, changeMs);
    beganMs = atMs = changeMs;
  }
  return [...stretches, { fromMs: beganMs, toMs, offsetMs }];
}

/** Finds a change by bisection: the offset at `otherMs` differs from that at `sameMs`. */
function firstChange(formatter: Intl.DateTimeFormat, sameMs: number, otherMs: number): number {
  const offsetMs = offsetMsAt(formatter, sameMs);
  let [before, after] = [sameMs, otherMs];
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2);
    if (offsetMsAt(formatter, middle) === offsetMs) before = middle;
    else after = middle;
  }
  // Clocks change on whole seconds of UTC, and exactly one lies in this interval.
  return Math.floor(after / 1000) * 1000;
}

/** Some offsets had seconds: Monrovia kept −00:44:30 until 1972. */
const OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

function offsetMsAt(formatter: Intl.DateTimeFormat, atMs: number): number {
  const text = formatter.format(atMs);
  const match = OFFSET.exec(text);
  if (match === null) throw new Error(`Intl returned '${text}', without an offset from GMT.`);
  const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = match;
  const offsetMs = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  return sign === '-' ? -offsetMs : offsetMs;
}

function formatterOf(timeZone: string, option = 'timeZone'): Intl.DateTimeFormat {
  if (typeof timeZone !== 'string' || !NAME.test(timeZone)) refuse(option, timeZone);
  const key = timeZone.toLowerCase();
  const cached = formatters.get(key);
  if (cached !== undefined) return cached;
  if (/^[a-z]{3}$/.test(key) && !SHORT_NAMES.has(key.toUpperCase())) refuse(option, timeZone);
  try {
    const made = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
    formatters.set(key, made);
    return made;
  } catch (cause) {
    return refuse(option, timeZone, cause);
  }
}

function refuse(option: string, timeZone: unknown, cause?: unknown): never {
  const isOffset = typeof timeZone === 'string' && /^[+-]\d|^(UTC|GMT)[+-]\d/i.test(timeZone);
  const why = isOffset
    ? `an offset without clock changes: ${REMEDY}, or 'Etc/GMT-1' for a zone that is always one hour east of UTC`
    : `which is not a time zone: ${REMEDY}`;
  throw new InvalidLockConfigurationError(`${option} is ${describeValue(timeZone)}, ${why}.`, { cause });
}
