import { describeValue } from './describe-value';
import { InvalidLockConfigurationError } from './errors';

/**
 * Calls what an option may make fail, for example a function of the application.
 *
 * @throws InvalidLockConfigurationError with this message and its error as the cause, if it throws
 */
export function callOption<T>(call: () => T, message: string): T {
  try {
    return call();
  } catch (cause) {
    throw new InvalidLockConfigurationError(message, { cause });
  }
}

/** @throws InvalidLockConfigurationError naming the option, its value and what it should be */
export function refuseOption(what: string, value: unknown, why: string): never {
  throw new InvalidLockConfigurationError(`${what} is ${describeValue(value)}: ${why}.`);
}
