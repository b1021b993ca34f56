import { describeValue } from './describe-value';
import { InvalidLockConfigurationError } from './errors';

export const DEFAULT_NAME_LENGTH = 64;
const LONGEST_NAME_LENGTH = 255;

/**
 * Refuses what a store could truncate, fold or confuse: names are compared byte for byte, on every store.
 *
 * @param nameLength the most code points that the store's column takes
 */
export function checkLockName(
  name: unknown,
  nameLength: number = DEFAULT_NAME_LENGTH,
): asserts name is string {
  if (typeof name !== 'string') refuse(name, 'it must be a string');
  const length = Array.from(name).length;
  if (length === 0) refuse(name, 'it must not be empty');
  if (length > nameLength) {
    const remedy =
      nameLength < LONGEST_NAME_LENGTH
        ? ' (a wider column and nameLength, here and among the options of createJobGuard, allow up to 255)'
        : '';
    refuse(name, `it has ${length} characters, more than ${nameLength}${remedy}`);
  }
  if (!name.isWellFormed()) refuse(name, 'it contains half a surrogate pair');
  if (/\p{Cc}/u.test(name)) refuse(name, 'it contains a control character');
  if (name !== name.trim()) refuse(name, 'it begins or ends with white space');
  if (name !== name.normalize('NFC'))
    refuse(name, 'it is not in Unicode normal form C: call .normalize() on it');
}

export function checkNameLength(nameLength: number): number {
  if (Number.isInteger(nameLength) && nameLength >= 1 && nameLength <= LONGEST_NAME_LENGTH) return nameLength;
  throw new InvalidLockConfigurationError(
    `nameLength is ${describeValue(nameLength)}: it must be a whole number from 1 to ${LONGEST_NAME_LENGTH}.`,
  );
}

function refuse(name: unknown, why: string): never {
  throw new InvalidLockConfigurationError(`${describeValue(name)} cannot be the name of a lock: ${why}.`);
}
