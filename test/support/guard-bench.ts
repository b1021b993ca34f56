import {
  JobGuard,
  type CronlatchEvents,
  type EventName,
  type JobGuardOptions,
  type Lock,
  type LockConfiguration,
  type TaskResult,
} from 'cronlatch';
import { executorBench, signal } from './executor-bench';
import { JOB } from './lock-bench';

/** A guard at a store that can go wrong, under a clock that the test moves, with its events and its lines. */
export function guardBench(options: Partial<JobGuardOptions> = {}) {
  const { provider, clock, events, ...bench } = executorBench();
  const lines: string[] = [];
  const logger = {
    warn: (line: string) => void lines.push(`warn: ${line}`),
    error: (line: string) => void lines.push(`error: ${line}`),
  };
  const guard = new JobGuard({ lockProvider: provider, clock, events, logger, ...options });
  return { ...bench, provider, clock, events, lines, guard };
}

export type GuardBench = ReturnType<typeof guardBench>;

export interface RunningJob {
  readonly lock: Lock;
  readonly result: Promise<TaskResult<unknown>>;
  readonly finish: (value?: unknown) => void;
  readonly fail: (error: unknown) => void;
}

/** A job that has begun, and ends when the test says so. */
export async function runningJob(
  guard: JobGuard,
  configuration: LockConfiguration = JOB,
): Promise<RunningJob> {
  const started = signal<Lock>();
  const end = signal<unknown>();
  const result = guard.run(configuration, async (lock) => {
    started.resolve(lock);
    return await end.promise;
  });
  result.catch(() => {}); // Rejections are the caller's.
  const lock = await Promise.race([started.promise, withoutStart(result)]);
  return { lock, result, finish: end.resolve, fail: end.reject };
}

/** Rejects when the run is over: whoever waits for its start would wait for ever. */
async function withoutStart(result: Promise<TaskResult<unknown>>): Promise<never> {
  throw new Error(`The job was to start, but it ended at once: ${JSON.stringify(await result)}.`);
}

/** What a promise rejects with, whatever that is. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  const settled = await promise.then(
    (value) => ({ value }),
    (reason: unknown) => ({ reason }),
  );
  if ('reason' in settled) return settled.reason;
  throw new Error(`It was to reject, but resolved to ${String(settled.value)}.`);
}

export function nextEvent<K extends EventName>(guard: JobGuard, name: K): Promise<CronlatchEvents[K]> {
  return new Promise((resolve) => {
    const stop = guard.on(name, (event) => {
      stop();
      resolve(event);
    });
  });
}
