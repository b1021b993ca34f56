import { InvalidLockConfigurationError, type EventHub, type TaskResult } from '../../core';
import { describeValue } from '../../core/describe-value';
import type { JobOptions } from '../job-guard-options';

/**
 * @param job the name of the job, for messages
 * @returns a function that throws an InvalidLockConfigurationError if the option throws or does not return a boolean
 * @throws InvalidLockConfigurationError if the option is neither a boolean nor a function
 */
export function parseEnabled(enabled: JobOptions['enabled'], job: string): () => boolean {
  if (enabled === undefined || typeof enabled === 'boolean') return () => enabled ?? true;
  if (typeof enabled === 'function') return () => callEnabled(enabled, job);
  throw new InvalidLockConfigurationError(
    `enabled of job '${job}' is ${describeValue(enabled)}: it must be a boolean, or a function that returns one.`,
  );
}

function callEnabled(enabled: () => unknown, job: string): boolean {
  const didNotRun = `so the job did not run. It must return true or false.`;
  let answer: unknown;
  try {
    answer = enabled();
  } catch (cause) {
    throw new InvalidLockConfigurationError(`enabled of job '${job}' threw an error, ${didNotRun}`, {
      cause,
    });
  }
  if (typeof answer === 'boolean') return answer;
  throw new InvalidLockConfigurationError(
    `enabled of job '${job}' returned ${describeValue(answer)}, ${didNotRun}`,
  );
}

interface Disableable {
  readonly isEnabled: () => boolean;
  readonly lock: { readonly name: string };
}

/**
 * Skips a tick of a disabled job, and reports it.
 *
 * @returns `undefined` if the job is enabled
 * @throws InvalidLockConfigurationError if `enabled` fails
 */
export function skipIfDisabled(
  { isEnabled, lock: { name } }: Disableable,
  scheduledAt: Date | undefined,
  events: EventHub,
): (TaskResult<never> & { executed: false }) | undefined {
  const event = { name, scheduledAt, willRetry: false };
  try {
    if (isEnabled()) return undefined;
  } catch (error) {
    events.emit('lock:failed', { ...event, error });
    throw error;
  }
  events.emit('lock:skipped', { ...event, reason: 'disabled', heldBy: undefined, heldUntil: undefined });
  return { executed: false, reason: 'disabled' };
}
