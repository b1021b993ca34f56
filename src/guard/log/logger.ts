import type { CronlatchEvents, EventHub, EventName } from '../../core';
import { describeError, logLine, logMessage, type LoggedEvent } from './log-message';

/** Receives the log lines of the guard, for example `console`. */
export interface Logger {
  /** Failures. */
  error(line: string): void;
  /** Warnings. */
  warn(line: string): void;
  /** One line per run, when it has ended. A failed run has a line of `error` instead. */
  info?(line: string): void;
  /** The start of each run, and each skip with its reason. */
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

/**
 * The name of the event, and the event's own fields, such as `scheduledAt`, `run`, `durationMs`, `reason` or `retryAt`.
 * Fields that are `undefined` are left out.
 */
export interface LogFields {
  readonly event: EventName;
  /** The name of the lock: the event's `name`. */
  readonly lock?: string;
  /** The event's `error`. */
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

const LEVELS: Readonly<Record<LoggedEvent, LogLevel>> = {
  'lock:failed': 'error',
  'lock:skipped': 'debug',
  'lock:lost': 'error',
  'lock:releaseFailed': 'error',
  'lock:forced': 'warn',
  'run:started': 'debug',
  'run:completed': 'info',
  'run:failed': 'error',
  'run:skipped': 'debug',
  'run:takenOver': 'warn',
  'run:interrupted': 'error',
  'run:stuck': 'error',
  'run:overdue': 'warn',
  'guard:warning': 'warn',
};

/** Logs one line or one entry per event, if the logger has a method for its level. */
export function logEvents(events: EventHub, logger: Logger | StructuredLogger): void {
  for (const name of Object.keys(LEVELS) as LoggedEvent[]) {
    events.on(name, (event: CronlatchEvents[typeof name]) => {
      const level = levelOf(name, event);
      if ('writeEntry' in logger) logger.writeEntry(entryOf(name, level, event));
      else if (logger[level] !== undefined) logger[level](lineOf(name, event));
    });
  }
}

/** A run that has started and then was skipped by its handler has ended like any other. */
function levelOf(name: LoggedEvent, event: object): LogLevel {
  return name === 'run:skipped' && 'durationMs' in event ? 'info' : LEVELS[name];
}

function entryOf<K extends LoggedEvent>(name: K, level: LogLevel, event: CronlatchEvents[K]): LogEntry {
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(event)) {
    if (value !== undefined && key !== 'message') fields[FIELD_NAMES[key] ?? key] = value;
  }
  return { level, fields: { event: name, ...fields }, message: logLine(logMessage(name, event)) };
}

/** `name` is a field of pino itself, and `err` the field whose error pino prints. */
const FIELD_NAMES: Readonly<Record<string, string>> = { name: 'lock', error: 'err' };

function lineOf<K extends LoggedEvent>(name: K, event: CronlatchEvents[K]): string {
  const message = logMessage(name, event);
  const stop = /[.?;]$/.test(message) ? '' : '.';
  const why = 'error' in event && event.error !== undefined ? ` Cause: ${describeError(event.error)}` : '';
  return logLine(`cronlatch ${name}: ${message}${stop}${why}`);
}
