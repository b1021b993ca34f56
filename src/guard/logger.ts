import { inspect } from 'node:util';
import type { CronlatchEvents, EventHub, EventName, RunIdentity } from '../core';
import { logLine } from './log-line';

/** Where lines go. `console` is one. */
export interface Logger {
  warn(line: string): void;
  error(line: string): void;
}

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
  if ('isAskedAgain' in event) return event.isAskedAgain ? '; its tick is asked again' : '';
  if ('retryAt' in event && event.retryAt instanceof Date) return `; next at ${event.retryAt.toISOString()}`;
  if ('isGivenUp' in event && event.isGivenUp) return '; it is given up, and runs again only by ledger.rerun';
  return '';
}

function describe(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error, { depth: 1 });
  } catch {
    return 'an error that cannot be read';
  }
}
