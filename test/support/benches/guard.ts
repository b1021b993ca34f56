import { hostname } from 'node:os';
import {
  JobGuard,
  type CronlatchEvents,
  type JobGuardOptions,
  type Lock,
  type JobConfiguration,
  type TaskResult,
} from 'cronlatch';
import type { EventName } from 'cronlatch/provider';
import { executorBench, signal } from './executor';
import { JOB } from './lock';

/** A line of a guard's log without the name of its process, which differs in each test run. */
export function withoutProcess(line: string): string {
  return line.replace(`${hostname()}/${process.pid} `, '');
}

/** A logger with all levels, and its lines. */
export function recordingLogger() {
  const lines: string[] = [];
  const at = (level: string) => (line: string) => void lines.push(`${level}: ${withoutProcess(line)}`);
  return { lines, error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** A guard on a store with faults, under a clock that the test moves, with its events and its log lines. */
export function guardBench(options: Partial<JobGuardOptions> = {}) {
  const { provider, clock, events, ...bench } = executorBench();
  const { lines, warn, error } = recordingLogger();
  const guard = new JobGuard({ lockProvider: provider, clock, events, logger: { warn, error }, ...options });
  return { ...bench, provider, clock, events, lines, guard };
}

export type GuardBench = ReturnType<typeof guardBench>;

export interface RunningJob {
  readonly lock: Lock;
  readonly result: Promise<TaskResult<unknown>>;
  readonly finish: (value?: unknown) => void;
  /** Finishes it, and waits for its end. */
  readonly end: () => Promise<void>;
  readonly fail: (error: unknown) => void;
}

/** A job that has started, and ends when the test ends it. */
export async function runningJob(
  guard: JobGuard,
  configuration: JobConfiguration = JOB,
): Promise<RunningJob> {
  const started = signal<Lock>();
  const end = signal<unknown>();
  const result = guard.run(configuration, async (lock) => {
    started.resolve(lock);
    return await end.promise;
  });
  result.catch(() => {}); // The caller handles rejections.
  const lock = await Promise.race([started.promise, withoutStart(result)]);
  const finishAndWait = async (): Promise<void> => {
    end.resolve(undefined);
    await result;
  };
  return { lock, result, finish: end.resolve, end: finishAndWait, fail: end.reject };
}

/** Rejects when the run has ended, because waiting for its start would then never end. */
async function withoutStart(result: Promise<TaskResult<unknown>>): Promise<never> {
  throw new Error(`The job should have started, but it ended at once: ${JSON.stringify(await result)}.`);
}

/** The reason with which a promise rejects, of any type. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  const settled = await promise.then(
    (value) => ({ value }),
    (reason: unknown) => ({ reason }),
  );
  if ('reason' in settled) return settled.reason;
  throw new Error(`The promise should have rejected, but resolved to ${String(settled.value)}.`);
}

export function nextEvent<K extends EventName>(guard: JobGuard, name: K): Promise<CronlatchEvents[K]> {
  return new Promise((resolve) => {
    const stop = guard.on(name, (event) => {
      stop();
      resolve(event);
    });
  });
}

type Events = Pick<JobGuard, 'on'>;

/** The events of this name from now on. */
export function eventsOf<K extends EventName>(events: Events, name: K): readonly CronlatchEvents[K][] {
  const received: CronlatchEvents[K][] = [];
  events.on(name, (event) => void received.push(event));
  return received;
}

/** The messages of the warnings from now on. */
export function warningsOf(events: Events): readonly string[] {
  const warnings: string[] = [];
  events.on('guard:warning', ({ message }) => void warnings.push(message));
  return warnings;
}
