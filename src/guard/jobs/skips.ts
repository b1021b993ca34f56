import {
  InvalidLockConfigurationError,
  JobSkippedError,
  type EventHub,
  type LockEvent,
  type SkipReason,
  type TaskResult,
} from '../../core';
import { describeValue } from '../../core/describe-value';
import { callOption, refuseOption } from '../../core/options';
import type { JobOptions } from '../job-guard-options';

/** A function is called for each tick and each check for overdue runs. */
export type Switch = boolean | (() => boolean);

/**
 * @param job the name of the job, for messages
 * @throws as `parseSwitch` does
 */
export function parseEnabled(enabled: JobOptions['enabled'], job: string): () => boolean {
  return parseSwitch(enabled ?? true, `enabled of job '${job}'`);
}

/**
 * @param what the option and its owner, for messages: `enabled of job 'close-day'`
 * @returns a function that throws an InvalidLockConfigurationError if the option throws or does not return a boolean
 * @throws InvalidLockConfigurationError if the option is neither a boolean nor a function
 */
export function parseSwitch(option: Switch, what: string): () => boolean {
  if (typeof option === 'boolean') return () => option;
  if (typeof option === 'function') return () => callSwitch(option, what);
  refuseOption(what, option, 'it must be a boolean, or a function that returns one');
}

function callSwitch(option: () => unknown, what: string): boolean {
  const didNotRun = `so the job did not run. It must return true or false.`;
  const answer = callOption(option, `${what} threw an error, ${didNotRun}`);
  if (typeof answer === 'boolean') return answer;
  throw new InvalidLockConfigurationError(`${what} returned ${describeValue(answer)}, ${didNotRun}`);
}

/**
 * Skips a tick that may not run its job now, before anything is sent to the database, and reports it.
 *
 * @param reasonOf returns why the job may not run, or `undefined`
 * @returns `undefined` if the job may run
 * @throws InvalidLockConfigurationError if `reasonOf` does
 */
export function skipIf(
  reasonOf: () => SkipReason | undefined,
  lockEvent: () => LockEvent,
  events: EventHub,
): (TaskResult<never> & { executed: false }) | undefined {
  let reason: SkipReason | undefined;
  try {
    reason = reasonOf();
  } catch (error) {
    events.emit('lock:failed', { willRetry: false, error, ...lockEvent() });
    throw error;
  }
  if (reason === undefined) return undefined;
  const holder = { heldBy: undefined, heldUntil: undefined };
  events.emit('lock:skipped', { willRetry: false, reason, ...holder, ...lockEvent() });
  return { executed: false, reason };
}

/** @throws InvalidLockConfigurationError for an invalid value */
export function checkOnSkip(onSkip: unknown, job: string): void {
  if (onSkip === undefined || onSkip === 'resolve' || onSkip === 'throw') return;
  refuseOption(`onSkip of job '${job}'`, onSkip, `it must be 'resolve' or 'throw'`);
}

/** @param lock the name of the job's lock */
export function jobSkippedError(lock: string, reason: SkipReason): JobSkippedError {
  return new JobSkippedError(`The job with lock '${lock}' was skipped: ${reason}.`, { reason });
}
