import { inspect } from 'node:util';
import type { CronlatchEvents, EventHub, EventName, RunIdentity } from '../core';

/** Where lines go. `console` is one. */
export interface Logger {
  warn(line: string): void;
  error(line: string): void;
}

/** Longer ones are cut. */
const LONGEST_LINE = 8192;

/** Everything that moves a terminal's cursor or ends a line, and what turns the direction of the text around. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]+/;

/** What nobody should have to subscribe to: the ways in which a night goes wrong. */
const REPORTED = {
  'lock:failed': 'error',
  'lock:lost': 'error',
  'lock:releaseFailed': 'error',
  'run:failed': 'error',
  'run:takenOver': 'warn',
  'run:interrupted': 'error',
  'run:stuck': 'error',
  'guard:warning': 'warn',
} as const satisfies Partial<Record<EventName, keyof Logger>>;

const MEANINGS: Record<keyof typeof REPORTED, string> = {
  'lock:failed': 'the job did not run',
  'lock:lost': 'its job still runs and was told to stop',
  'lock:releaseFailed': 'the next run waits until the lock ends by itself',
  'run:failed': 'the job failed',
  'run:takenOver': 'the holder of its last attempt vanished, and its work is repeated',
  'run:interrupted': 'its holder vanished, and it is not repeated: a person must say what became of it',
  'run:stuck': 'its lease is over but the job goes on; it is not started again here before it ends',
  'guard:warning': '',
};

/** One line an event. */
export function logEvents(events: EventHub, logger: Logger): void {
  for (const [name, level] of Object.entries(REPORTED) as [keyof typeof REPORTED, keyof Logger][]) {
    events.on(name, (event: CronlatchEvents[typeof name]) => logger[level](lineOf(name, event)));
  }
}

function lineOf(name: keyof typeof REPORTED, event: CronlatchEvents[keyof typeof REPORTED]): string {
  const parts = [`cronlatch ${name}`];
  if ('name' in event) parts.push(`'${event.name}'`);
  if ('scheduledAt' in event && event.scheduledAt !== undefined)
    parts.push(`(scheduled at ${event.scheduledAt.toISOString()})`);
  if ('run' in event && event.run !== undefined) parts.push(describeRun(event.run));
  const said = 'message' in event ? event.message : MEANINGS[name] + whatFollows(event);
  const stop = /[.?;]$/.test(said) ? '' : '.';
  const why = 'error' in event && event.error !== undefined ? ` Cause: ${describe(event.error)}` : '';
  return logLine(`${parts.join(' ')}: ${said}${stop}${why}`);
}

function describeRun({ job, scope, periodKey, attempt }: RunIdentity): string {
  return `job '${job}'${scope === '' ? '' : ` (${scope})`} for ${periodKey}, attempt ${attempt}`;
}

function whatFollows(event: object): string {
  if ('willRetry' in event) return event.willRetry ? '; its tick is asked again' : '';
  if ('retryAt' in event && event.retryAt instanceof Date) return `; next at ${event.retryAt.toISOString()}`;
  if ('isFinal' in event && event.isFinal) return '; it is given up, and runs again only by ledger.rerun';
  return '';
}

function describe(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error, { depth: 1 });
  } catch {
    return 'an error that cannot be read';
  }
}

/** A text as one line of a log. It may be of anybody: a job's error can hold what a stranger has sent. */
function logLine(text: string): string {
  const lines = text.slice(0, LONGEST_LINE).split(LINE_BREAKS);
  const beginning = lines
    .map((each) => each.trim())
    .join(' ')
    .replaceAll(UNSAFE, escaped);
  const line = beginning.slice(0, LONGEST_LINE);
  const missing = Math.max(0, text.length - LONGEST_LINE) + beginning.length - line.length;
  const whole =
    missing === 0 ? line : `${withoutHalf(line)}… (${missing.toLocaleString('en')} more characters)`;
  return whole.trim().toWellFormed();
}

function escaped(character: string): string {
  return character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Of a character that takes two code units, the first alone is nothing. */
function withoutHalf(line: string): string {
  return line.at(-1)?.isWellFormed() === false ? line.slice(0, -1) : line;
}
