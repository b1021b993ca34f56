import { types } from 'node:util';
import { InvalidLockConfigurationError } from '../core';
import { describeValue } from '../core/describe-value';

/**
 * What `scheduledAt` of `guard.wrap` reads from the arguments of a call.
 *
 * @throws InvalidLockConfigurationError when it throws, and for what is no instant
 */
export function scheduledInstant<A extends unknown[]>(
  scheduledAt: ((...args: A) => Date | undefined) | undefined,
  args: A,
  job: string,
): Date | undefined {
  const read: unknown = called(scheduledAt, args, job);
  if (read === undefined || (types.isDate(read) && !Number.isNaN(read.getTime()))) return read;
  throw new InvalidLockConfigurationError(
    `scheduledAt of job '${job}' returned ${describeValue(read)}: it must return a date, or undefined where nothing is known.`,
  );
}

function called<A extends unknown[]>(
  scheduledAt: ((...args: A) => Date | undefined) | undefined,
  args: A,
  job: string,
): Date | undefined {
  try {
    return scheduledAt?.(...args);
  } catch (cause) {
    throw new InvalidLockConfigurationError(
      `scheduledAt of job '${job}' threw: it must return an instant for every call, or undefined.`,
      { cause },
    );
  }
}
