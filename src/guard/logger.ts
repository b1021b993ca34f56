import { inspect } from 'node:util';
import type { CronlatchEvents, EventHub, EventName, RunIdentity } from '../core';

/** Receives the log lines of the guard, for example `console`. */
export interface Logger {
  warn(line: string): void;
  error(line: string): void;
}

/** In characters. Longer lines are cut. */
const MAX_LINE_LENGTH = 8192;

/** Characters that move a terminal's cursor, end a line or change the direction of the text. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]+/;

/** The failures that an operator must see without subscribing to events. */
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
  'lock:lost': 'the job is still running, and its signal has aborted',
  'lock:releaseFailed': 'the next run cannot start before the lease expires',
  'run:failed': 'the job failed',
  'run:takenOver': 'the holder of the last attempt crashed, and this attempt repeats its work',
  'run:interrupted':
    'its holder crashed, and the run will not be retried. Check what it did, then call ledger.resolve()',
  'run:stuck':
    'its lease has expired but the job is still running; this process will not start it again until it finishes',
  'guard:warning': '',
};

/** Logs one line per event. */
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
  const meaning = 'message' in event ? event.message : MEANINGS[name] + describeNextStep(event);
  const stop = /[.?;]$/.test(meaning) ? '' : '.';
  const why = 'error' in event && event.error !== undefined ? ` Cause: ${describe(event.error)}` : '';
  return logLine(`${parts.join(' ')}: ${meaning}${stop}${why}`);
}

function describeRun({ job, scope, periodKey, attempt }: RunIdentity): string {
  return `job '${job}'${scope === '' ? '' : ` (${scope})`} for ${periodKey}, attempt ${attempt}`;
}

function describeNextStep(event: object): string {
  if ('willRetry' in event) return event.willRetry ? '; the tick will be retried' : '';
  if ('retryAt' in event && event.retryAt instanceof Date)
    return `; the next attempt is at ${event.retryAt.toISOString()}`;
  if ('isFinal' in event && event.isFinal) return ' permanently; only ledger.rerun() runs it again';
  return '';
}

function describe(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error, { depth: 1 });
  } catch {
    return 'an error that cannot be read';
  }
}

/** Makes one safe log line of a text, which can contain input from strangers: a job's error may quote it. */
function logLine(text: string): string {
  const lines = text.slice(0, MAX_LINE_LENGTH).split(LINE_BREAKS);
  const beginning = lines
    .map((each) => each.trim())
    .join(' ')
    .replaceAll(UNSAFE, escaped);
  const line = beginning.slice(0, MAX_LINE_LENGTH);
  const missing = Math.max(0, text.length - MAX_LINE_LENGTH) + beginning.length - line.length;
  const whole =
    missing === 0 ? line : `${withoutLoneSurrogate(line)}… (${missing.toLocaleString('en')} more characters)`;
  return whole.trim().toWellFormed();
}

function escaped(character: string): string {
  return character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Cutting a line can leave the first half of a surrogate pair at its end. */
function withoutLoneSurrogate(line: string): string {
  return line.at(-1)?.isWellFormed() === false ? line.slice(0, -1) : line;
}
