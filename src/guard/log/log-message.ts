import { inspect } from 'node:util';
import type { CronlatchEvents, EventName, LockEvent, RunIdentity } from '../../core';

/** The events that are logged, each with what the job does, or what happens to it. */
const PREDICATES: { readonly [K in LoggedEvent]: (event: CronlatchEvents[K]) => string } = {
  'lock:failed': () => 'did not run',
  'lock:skipped': (event) => `skipped: ${event.reason}${describeHolder(event)}`,
  'lock:lost': () => 'has lost its lock and is still running',
  'lock:releaseFailed': () => 'could not release its lock',
  'lock:forced': ({ actor, reason, heldBy, heldUntil }) =>
    `had its lock released by ${actor} (${reason}), which ${heldBy} held until ${heldUntil.toISOString()}`,
  'run:started': () => 'started',
  'run:completed': ({ durationMs }) => `completed in ${describeDuration(durationMs)}`,
  'run:failed': ({ isFinal, durationMs }) =>
    `failed ${isFinal ? 'permanently ' : ''}after ${describeDuration(durationMs)}`,
  'run:skipped': describeSkip,
  'run:takenOver': () => 'started again',
  'run:interrupted': () => 'was interrupted',
  'run:stuck': () => 'is stuck',
  'run:overdue': () => 'is overdue',
  'guard:warning': ({ message }) => message,
};

export type LoggedEvent = Exclude<EventName, 'lock:acquired' | 'lock:extended' | 'lock:released' | 'tick'>;

/** What follows from an event, or what to do, if it is always the same. */
const CONSEQUENCES: { readonly [K in LoggedEvent]?: string } = {
  'lock:lost': 'its signal has aborted',
  'lock:releaseFailed': 'the next run cannot start before the lease expires',
  'lock:forced': 'another instance can run the job now',
  'run:takenOver': 'the holder of the last attempt crashed, and this attempt repeats its work',
  'run:interrupted':
    'its holder crashed, and the run will not be retried. Check what it did, then call ledger.resolve()',
  'run:stuck':
    'its lease has expired but the job is still running. This process will not start it again until it finishes',
  'run:overdue': 'no instance has answered this tick',
};

/** The message of an event without its cause, such as `job 'close-day' completed in 12 ms (scheduled at …)`. */
export function logMessage<K extends LoggedEvent>(name: K, event: CronlatchEvents[K]): string {
  const predicate = PREDICATES[name](event);
  if (!('name' in event)) return predicate;
  const run = 'run' in event ? event.run : undefined;
  const consequence = CONSEQUENCES[name] ?? describeNextStep(event);
  const end = consequence === undefined ? '' : `; ${consequence}`;
  return `${describeJob(event, run)} ${predicate}${describeDetails(event, run)}${end}`;
}

function describeJob(event: LockEvent, run: RunIdentity | undefined): string {
  if (run === undefined) return `job '${'job' in event ? String(event.job) : event.name}'`;
  return `job '${run.job}'${run.scope === '' ? '' : ` (${run.scope})`} for ${run.periodKey}`;
}

function describeDetails({ name, scheduledAt }: LockEvent, run: RunIdentity | undefined): string {
  const details: string[] = [];
  if (run !== undefined && run.attempt > 0) details.push(`attempt ${run.attempt}`);
  if (run !== undefined && run.job !== name) details.push(`lock '${name}'`);
  if (scheduledAt !== undefined) details.push(`scheduled at ${scheduledAt.toISOString()}`);
  return details.length === 0 ? '' : ` (${details.join(', ')})`;
}

function describeHolder({ heldBy, heldUntil }: CronlatchEvents['lock:skipped']): string {
  return heldBy === undefined ? '' : ` by ${heldBy} until ${heldUntil?.toISOString()}`;
}

function describeSkip({ reason, durationMs }: CronlatchEvents['run:skipped']): string {
  if (durationMs === undefined) return `skipped: ${reason}`;
  const what = reason === 'given-back' ? 'gave its run back' : 'skipped its period';
  return `${what} after ${describeDuration(durationMs)}`;
}

function describeNextStep(event: object): string | undefined {
  if ('willRetry' in event && event.willRetry) return 'the tick will be retried';
  if ('retryAt' in event && event.retryAt instanceof Date)
    return `the next attempt is at ${event.retryAt.toISOString()}`;
  if ('isFinal' in event && event.isFinal) return 'only ledger.rerun() runs it again';
  return undefined;
}

export function describeDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function describeError(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error, { depth: 1 });
  } catch {
    return 'an error that cannot be read';
  }
}

/** In characters. Longer lines are cut. */
const MAX_LINE_LENGTH = 8192;

/** Characters that move a terminal's cursor, end a line, change the direction of the text, or are invisible. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]+/;

/** Makes one safe log line of a text, which can contain input from strangers: a job's error may quote it. */
export function logLine(text: string): string {
  const lines = text.slice(0, MAX_LINE_LENGTH).split(LINE_BREAKS);
  const beginning = escapeUnsafe(lines.map((each) => each.trim()).join(' '));
  const line = beginning.slice(0, MAX_LINE_LENGTH);
  const missing = Math.max(0, text.length - MAX_LINE_LENGTH) + beginning.length - line.length;
  const whole =
    missing === 0 ? line : `${withoutLoneSurrogate(line)}… (${missing.toLocaleString('en')} more characters)`;
  return whole.trim().toWellFormed();
}

/** Characters that a terminal would obey or not show become codes, as JSON writes them. */
export function escapeUnsafe(text: string): string {
  const codeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replaceAll(UNSAFE, (each) => (each === '\t' ? ' ' : each.split('').map(codeOf).join('')));
}

/** Cutting a line can leave the first half of a surrogate pair at its end. */
function withoutLoneSurrogate(line: string): string {
  return line.at(-1)?.isWellFormed() === false ? line.slice(0, -1) : line;
}
