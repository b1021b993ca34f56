import { describeDuration } from './time-texts';
import { inspect } from 'node:util';
import {
  CronlatchError,
  type CronlatchEvents,
  type EventHub,
  type EventName,
  type LockEvent,
  type RunIdentity,
} from '../../core';

/** Receives the log lines of the guard, for example `console`. */
export interface Logger {
  error(line: string): void;
  warn(line: string): void;
  /** The guard's start and closing, the end of each run that did not fail, and a store that answers again. */
  info?(line: string): void;
  /** The start of each run, each skip with its reason, and what repeats while the store does not answer. */
  debug?(line: string): void;
}

/** Receives log entries with fields. `structured` creates one for a logger such as pino. */
export interface StructuredLogger {
  writeEntry(entry: LogEntry): void;
}

export interface LogEntry {
  readonly level: LogLevel;
  readonly fields: LogFields;
  /** One line, without the name of the event and without the error. */
  readonly message: string;
}

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

/** The event's name and its fields, such as `scheduledAt`, `run` or `retryAt`, except those that are `undefined`. */
export interface LogFields {
  readonly event: EventName;
  /** Names the process, as in the owners of its locks. */
  readonly instance: string;
  /** The name of the lock: the event's `name`. */
  readonly lock?: string;
  readonly err?: unknown;
  readonly [field: string]: unknown;
}

/** A logger whose methods take an object of fields and a message, for example that of pino or bunyan. */
export type FieldLogger = Record<LogLevel, (fields: object, message: string) => void>;

/** Passes the guard's log entries to a logger such as pino: `createJobGuard(dataSource, { logger: structured(pino()) })`. */
export function structured(logger: FieldLogger): StructuredLogger {
  return { writeEntry: ({ level, fields, message }) => logger[level](fields, message) };
}

/** The default. Skips are normal on all instances but one, so it has no `debug`. */
export const consoleLogger: Logger = {
  error: (line) => console.error(line),
  warn: (line) => console.warn(line),
  info: (line) => console.info(line),
};

/** The events that are logged, each with its level, and what the job does, or what happens to it. */
const LOGGED: { readonly [K in LoggedEvent]: readonly [LogLevel, (event: CronlatchEvents[K]) => string] } = {
  'lock:failed': ['error', () => 'did not run'],
  'lock:skipped': ['debug', (event) => `skipped: ${event.reason}${describeHolder(event)}`],
  'lock:lost': ['error', () => 'has lost its lock and is still running'],
  'lock:releaseFailed': ['error', () => 'could not release its lock'],
  'lock:forced': [
    'warn',
    ({ actor, reason, heldBy, heldUntil }) =>
      `had its lock released by ${actor} (${reason}), which ${heldBy} held until ${heldUntil.toISOString()}`,
  ],
  'run:started': ['debug', ({ madeUp }) => (madeUp ? 'is made up' : 'started')],
  'run:completed': [
    'info',
    ({ durationMs, lockLost }) =>
      `completed in ${describeDuration(durationMs)}${lockLost ? ', after it had lost its lock' : ''}`,
  ],
  'run:failed': [
    'error',
    ({ isFinal, durationMs }) =>
      `failed ${isFinal ? 'permanently ' : ''}after ${describeDuration(durationMs)}`,
  ],
  'run:skipped': ['debug', describeSkip],
  'run:givenBack': ['info', ({ durationMs }) => `was stopped after ${describeDuration(durationMs)}`],
  'run:takenOver': ['warn', () => 'started again'],
  'run:interrupted': ['error', () => 'was interrupted'],
  'run:stuck': ['error', () => 'is stuck'],
  'job:late': ['warn', () => 'is late'],
  'guard:started': ['info', ({ message }) => message],
  'guard:outage': ['info', ({ message }) => message],
  'guard:closing': ['info', ({ message }) => message],
  'guard:closed': ['info', ({ message }) => message],
  'guard:warning': ['warn', ({ message }) => message],
};

type LoggedEvent = Exclude<EventName, 'lock:acquired' | 'lock:extended' | 'lock:released' | 'tick'>;

/** What follows from an event, or what to do, if it is always the same. */
const CONSEQUENCES: { readonly [K in LoggedEvent]?: string } = {
  'lock:lost': 'its signal has aborted',
  'lock:releaseFailed': 'the lock is free when its lease has expired',
  'lock:forced': 'another instance can run the job now',
  'run:givenBack': 'the guard is closing, so an instance starts it again, and this attempt does not count',
  'run:takenOver': 'the lease of the last attempt ended, and this attempt repeats its work',
  'run:interrupted':
    'its lease ended, and its holder has not come back, but may still be running. Check what it did, then call operations(guard).resolve()',
  'run:stuck':
    'its lease has expired but the job is still running. This process will not start it again until it finishes',
  'job:late': 'no instance has answered this tick',
};

/**
 * Logs one line or one entry per event, if the logger has a method for its level.
 *
 * @param outages decide whether a line repeats what the log has already
 */
export function logEvents(
  events: EventHub,
  logger: Logger | StructuredLogger,
  instance: string,
  outages: { write(name: EventName, event: object, write: (isRepeat: boolean) => void): void },
): void {
  const isConsole = logger === consoleLogger || logger === console;
  const write = <K extends LoggedEvent>(name: K, event: CronlatchEvents[K], level: LogLevel): void => {
    if ('writeEntry' in logger) logger.writeEntry(entryOf(name, level, event, instance));
    else if (logger[level] !== undefined)
      logger[level](lineOf(instance, name, event) + (isConsole ? framesOf(name, event) : ''));
  };
  for (const name of Object.keys(LOGGED) as LoggedEvent[]) {
    events.on(name, (event: CronlatchEvents[typeof name]) =>
      outages.write(name, event, (isRepeat) => write(name, event, isRepeat ? 'debug' : levelOf(name, event))),
    );
  }
}

/** A run that its handler skipped has ended like any other. A guard that closes without running jobs is not news. */
function levelOf(name: LoggedEvent, event: object): LogLevel {
  if (name === 'run:skipped' && 'durationMs' in event) return 'info';
  if (name === 'run:started' && 'madeUp' in event) return 'info';
  if (name === 'run:completed' && 'lockLost' in event) return 'warn';
  if ('jobs' in event && name !== 'guard:started' && (event.jobs as unknown[]).length === 0) return 'debug';
  return LOGGED[name][0];
}

function entryOf<K extends LoggedEvent>(
  name: K,
  level: LogLevel,
  event: CronlatchEvents[K],
  instance: string,
): LogEntry {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(event)) {
    if (value !== undefined && key !== 'message') fields[FIELD_NAMES[key] ?? key] = value;
  }
  return { level, fields: { event: name, instance, ...fields }, message: logLine(logMessage(name, event)) };
}

/** `name` is a field of pino itself, and `err` the field whose error pino prints. */
const FIELD_NAMES: Readonly<Record<string, string>> = { name: 'lock', error: 'err' };

/** Each line begins with it, because other parts of the application may use the same logger. */
export const LINE_START = 'cronlatch ';

function lineOf<K extends LoggedEvent>(instance: string, name: K, event: CronlatchEvents[K]): string {
  const message = logMessage(name, event);
  const stop = /[.?;]$/.test(message) ? '' : '.';
  const why = 'error' in event && event.error !== undefined ? ` Cause: ${describeError(event.error)}` : '';
  return logLine(`${LINE_START}${subjectOf(name, instance)}${message}${stop}${why}`);
}

/** The message of a start begins with the process itself, and those of a closing guard name their event. */
function subjectOf(name: LoggedEvent, instance: string): string {
  if (name === 'guard:started') return '';
  return name === 'guard:closing' || name === 'guard:closed' ? `${instance} ` : `${instance} ${name}: `;
}

/** The lines of a stack that are frames, behind the message. Their indentation sets them apart from the lines of the log. */
function framesOf(name: LoggedEvent, event: object): string {
  if (name !== 'run:failed' || !('error' in event)) return '';
  try {
    const { error } = event;
    if (!(error instanceof Error) || error instanceof CronlatchError) return '';
    const { stack = '', message } = error;
    const place = stack.indexOf(message); // A job can change a message after its stack was taken.
    const lines = stack.slice(place < 0 ? 0 : place + message.length).split(LINE_BREAKS);
    const frames = lines.filter((line) => /^\s+at /.test(line)).slice(0, MAX_FRAMES);
    return frames.map((line) => `\n    ${logLine(line)}`).join('');
  } catch {
    return ''; // A job can throw an error that cannot be read.
  }
}

/** The message of an event without its cause, such as `job 'close-day' completed in 12 ms (scheduled at …)`. */
export function logMessage<K extends LoggedEvent>(name: K, event: CronlatchEvents[K]): string {
  const predicate = LOGGED[name][1](event);
  if (!('name' in event)) return predicate;
  const run = 'run' in event ? event.run : undefined;
  const consequence = CONSEQUENCES[name] ?? describeNextStep(name, event);
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

function describeNextStep(name: EventName, event: object): string | undefined {
  if (name === 'run:started' && 'madeUp' in event) return 'no instance had answered its tick';
  if ('willRetry' in event && event.willRetry) return 'the tick will be retried';
  if ('retryAt' in event && event.retryAt instanceof Date)
    return `the next attempt is at ${event.retryAt.toISOString()}`;
  if ('isFinal' in event && event.isFinal) return 'only operations(guard).rerun() runs it again';
  return undefined;
}

export function describeError(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error, { depth: 1 });
  } catch {
    return 'an error that cannot be read';
  }
}

const MAX_FRAMES = 20;

/** In characters. Longer lines are cut. */
const MAX_LINE_LENGTH = 8192;

/** Characters that move a terminal's cursor, end a line, change the direction of the text, or are invisible. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]+/;

/** Makes one safe log line of a text, which can contain input from strangers: a job's error may quote it. */
export function logLine(text: string): string {
  const lines = text.slice(0, MAX_LINE_LENGTH).split(LINE_BREAKS);
  const beginning = escapeUnsafe(lines.map((each) => each.trim()).join(' '));
  if (Math.max(text.length, beginning.length) <= MAX_LINE_LENGTH) return beginning.trim().toWellFormed();
  // Cutting can leave the first half of a surrogate pair at the end.
  const line = beginning.slice(0, MAX_LINE_LENGTH).replace(/[\ud800-\udbff]$/, '');
  const missing = Math.max(0, text.length - MAX_LINE_LENGTH) + beginning.length - line.length;
  return `${line.trim().toWellFormed()}… (${missing.toLocaleString('en')} more characters)`;
}

/** Characters that a terminal would obey or not show become codes, as JSON writes them. */
export function escapeUnsafe(text: string): string {
  const codeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replaceAll(UNSAFE, (each) => (each === '\t' ? ' ' : each.split('').map(codeOf).join('')));
}
