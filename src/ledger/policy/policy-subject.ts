import { describeValue } from '../../core/describe-value';
import { InvalidLockConfigurationError } from '../../core/errors';

/** The job whose policy is checked. */
export interface PolicySubject {
  /** Names the job in errors, for example `of job 'close-day'`. */
  readonly of: string;
  /** Whether the job has a key function. Its periods have no start, no end and no order. */
  readonly customKeys: boolean;
}

/** @throws InvalidLockConfigurationError naming the option, its value and what it should be */
export function refusePolicy(what: string, value: unknown, why: string): never {
  throw new InvalidLockConfigurationError(`${what} is ${describeValue(value)}: ${why}.`);
}

export function checkCount(value: number, most: number, what: string): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  return refusePolicy(what, value, `it must be a whole number from 1 to ${most}`);
}
