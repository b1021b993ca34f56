import { describeValue } from './describe-value';
import { InvalidLockConfigurationError } from './errors';

export const DEFAULT_NAME_LENGTH = 64;
export const LONGEST_NAME_LENGTH = 255;

/**
 * Refuses what a store could truncate, fold or confuse: names are compared byte for byte, on every store.
 *
 * @param nameLength the most code points that the store's column takes
 */
export function checkLockName(
  name: unknown,
  nameLength: number = DEFAULT_NAME_LENGTH,
): asserts name is string {
  const wider = `a wider column and nameLength, here and among the options of createJobGuard, allow up to ${LONGEST_NAME_LENGTH}`;
  const remedy = nameLength < LONGEST_NAME_LENGTH ? wider : undefined;
  checkStoredName(name, { as: 'the name of a lock', longest: nameLength, remedy });
}

export interface StoredNameRules {
  /** What it would be, in errors: `the name of a lock`. */
  readonly as: string;
  /** In code points. */
  readonly longest: number;
  /** How it could be longer. */
  readonly remedy?: string | undefined;
}

/** The same, for whatever else a store compares byte for byte. */
export function checkStoredName(
  name: unknown,
  { as, longest, remedy }: StoredNameRules,
): asserts name is string {
  const refuse = (why: string): never => {
    throw new InvalidLockConfigurationError(`${describeValue(name)} cannot be ${as}: ${why}.`);
  };
  if (typeof name !== 'string') return refuse('it must be a string');
  if (name === '') refuse('it must not be empty');
  // A code point is two code units at most: a longer name needs no count, which takes seconds for one of 50 MB.
  const length = name.length > 2 * longest ? name.length : Array.from(name).length;
  if (length > longest)
    refuse(`it has ${length} characters, more than ${longest}${remedy === undefined ? '' : ` (${remedy})`}`);
  if (!name.isWellFormed()) refuse('it contains half a surrogate pair');
  if (/\p{Cc}/u.test(name)) refuse('it contains a control character');
  if (name !== name.trim()) refuse('it begins or ends with white space');
  if (name !== name.normalize('NFC')) refuse('it is not in Unicode normal form C: call .normalize() on it');
}

export function checkNameLength(nameLength: number): number {
  if (Number.isInteger(nameLength) && nameLength >= 1 && nameLength <= LONGEST_NAME_LENGTH) return nameLength;
  throw new InvalidLockConfigurationError(
    `nameLength is ${describeValue(nameLength)}: it must be a whole number from 1 to ${LONGEST_NAME_LENGTH}.`,
  );
}
