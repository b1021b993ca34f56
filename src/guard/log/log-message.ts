import { inspect } from 'node:util';
import type { CronlatchEvents, EventName, LockEvent, RunIdentity } from '../../core';

/** The events that are logged, each with what the job does, or what happens to it. */
const PREDICATES: { readonly [K in LoggedEvent]: (event: CronlatchEvents[K]) => string } = {
  'lock:failed': () => 'did not run',
  'lock:skipped': (event) => `skipped: ${event.reason}${describeHolder(event)}`,
  'lock:lost': () => 'has lost its lock and is still running',
  'lock:releaseFailed': () => 'could not release its lock',
  'run:started': () => 'started',
  'run:completed': ({ durationMs }) => `completed in ${describeDuration(durationMs)}`,
  'run:failed': ({ isFinal, durationMs }) =>
    `failed ${isFinal ? 'permanently ' : ''}after ${describeDuration(durationMs)}`,
  'run:skipped': describeSkip,
  'run:takenOver': () => 'started again',
  'run:interrupted': () => 'was interrupted',
  'run:stuck': () => 'is stuck',
  'guard:warning': ({ message }) => message,
};

export type LoggedEvent = Exclude<EventName, 'lock:acquired' | 'lock:extended' | 'lock:released' | 'tick'>;

/** What follows from an event, or what to do, if it is always the same. */
const CONSEQUENCES: { readonly [K in LoggedEvent]?: string } = {
  'lock:lost': 'its signal has aborted',
  'lock:releaseFailed': 'the next run cannot start before the lease expires',
  'run:takenOver': 'the holder of the last attempt crashed, and this attempt repeats its work',
  'run:interrupted':
    'its holder crashed, and the run will not be retried. Check what it did, then call ledger.resolve()',
  'run:stuck':
    'its lease has expired but the job is still running. This process will not start it again until it finishes',
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

function describeJob({ name }: LockEvent, run: RunIdentity | undefined): string {
  if (run === undefined) return `job '${name}'`;
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

function describeDuration(durationMs: number): string {
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
