import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  currentRun,
  type CurrentRun,
  type JobConfiguration,
  type JobGuard,
  type OncePerConfiguration,
} from 'cronlatch';
import { signal } from '../benches/executor';
import type { Instance } from '../stores/ledger-place';

/** The job of the ledger's cases: once a day in Paris, under a lock of a minute. */
export function closeDay(oncePer: Partial<OncePerConfiguration> = {}): JobConfiguration & {
  readonly oncePer: OncePerConfiguration;
} {
  return {
    ...{ name: 'close-day', lockAtMostFor: '1m' },
    oncePer: { period: 'day', timeZone: 'Europe/Paris', ...oncePer },
  };
}

/** The run of this job on the day on which the cases begin. */
export const CLOSE_DAY = { job: 'close-day', periodKey: '2026-11-20' };

/**
 * A handler that signals its start, and ends when the test ends it. If the test never does, its holder has
 * crashed.
 */
export function heldTask(finish: () => unknown = () => 'done') {
  const started = signal();
  const end = signal();
  const task = async (): Promise<unknown> => {
    started.resolve();
    await end.promise;
    return finish();
  };
  return { task, started: started.promise, end: (): void => end.resolve() };
}

/**
 * Calls a job whose guard closes meanwhile, and stops the handler.
 *
 * @param rejection what the handler rejects with, by the reason of its signal
 * @returns what the call rejects with
 */
export async function stoppedBy(
  guard: JobGuard,
  job: JobConfiguration,
  rejection = (reason: unknown): unknown => reason,
): Promise<unknown> {
  let closing: Promise<unknown> | undefined;
  const call = guard.run(job, async ({ signal }) => {
    closing = guard.close({ timeout: '1m', grace: '1m' });
    await once(signal, 'abort');
    throw rejection(signal.reason);
  });
  const error = await call.then(
    () => assert.fail('it did not reject'),
    (reason: unknown) => reason,
  );
  await closing;
  return error;
}

/** A handler that counts its calls. */
export function countedTask() {
  let runs = 0;
  return {
    task: (): string => {
      runs += 1;
      return 'done';
    },
    runs: () => runs,
  };
}

export const NO_BANK = new Error('no bank today');

/** A handler that records its runs. It throws what `act` throws, and returns what `act` returns. */
export function diary(act: (run: CurrentRun) => unknown = () => 'done') {
  const runs: CurrentRun[] = [];
  const task = async (): Promise<unknown> => {
    const run = currentRun();
    runs.push(run);
    return await act(run);
  };
  /** The keys of the periods that the handler ran for, in the order of the runs. */
  const periods = (): string[] => runs.map(({ periodKey }) => periodKey);
  return { task, runs, periods };
}

/** A handler that fails the given number of times. */
export function failing(times: number, error: unknown = NO_BANK) {
  let failures = 0;
  return diary(() => {
    failures += 1;
    if (failures <= times) throw error;
    return 'done';
  });
}

/** The rows of a job, the earliest period first: key, state and the reason, if there is one. */
export async function rowsOf({ guard }: Instance, job = 'close-day'): Promise<string[]> {
  const runs = await guard.ledger.list({ job, order: 'oldest-first', limit: 1000 });
  return runs.map(({ periodKey, state, reason }) =>
    [periodKey, reason === undefined ? state : `${state}(${reason})`].join(' '),
  );
}
