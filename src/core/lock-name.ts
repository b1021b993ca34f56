import { describeValue, refuseOption } from './options';
import { InvalidLockConfigurationError } from './errors';

export const DEFAULT_NAME_LENGTH = 64;
export const LONGEST_NAME_LENGTH = 255;

/** The lock that a probe reads. It does not matter whether it exists. */
export const PROBED_NAME = 'cronlatch-probe';

/** The row of a lock table that names the place of its locks. No lock can have this name. */
export const PLACE_NAME = 'cronlatch-place';
/** The jobs of cronlatch itself. No other job, and no lock of one, can have these names. */
export const PURGE_JOB = 'cronlatch-purge';
export const NOTICES_JOB = 'cronlatch-notices';
/** Fits these names. */
const SHORTEST_NAME_LENGTH = 17;

export function isOwnName(name: string): boolean {
  return name === PURGE_JOB || name === NOTICES_JOB;
}

/** Refuses names that a store could truncate, fold or confuse. `nameLength` is in code points. */
export function checkLockName(
  name: unknown,
  nameLength: number = DEFAULT_NAME_LENGTH,
): asserts name is string {
  const wider = `for up to ${LONGEST_NAME_LENGTH}, widen the column and set nameLength, here and in the options of createJobGuard`;
  const remedy = nameLength < LONGEST_NAME_LENGTH ? wider : undefined;
  checkStoredName(name, { as: 'the name of a lock', longest: nameLength, remedy });
  if (name !== PLACE_NAME) return;
  throw new InvalidLockConfigurationError(
    `A lock cannot have the name '${PLACE_NAME}' of cronlatch's own row.`,
  );
}

/**
 * Joins parts to the name of a lock: `lockName('ORDER', 17)` is `ORDER:17`. Different parts never give the same name,
 * because a colon or a percent sign in a part is escaped. The result must be as short as any name of a lock: 64
 * characters, or the `nameLength` of the guard.
 *
 * @throws InvalidLockConfigurationError for an empty part, or one that is neither a string nor a whole number
 */
export function lockName(
  ...parts: readonly [string | number | bigint, ...(string | number | bigint)[]]
): string {
  return parts.map(escapedPart).join(':');
}

function escapedPart(part: unknown, index: number): string {
  const isWhole = typeof part === 'bigint' || Number.isSafeInteger(part);
  const text = isWhole ? String(part) : part;
  if (typeof text === 'string' && text !== '')
    return text.replace(/[:%]/g, (character) => (character === ':' ? '%3A' : '%25'));
  throw new InvalidLockConfigurationError(
    `Part ${index + 1} of lockName is ${describeValue(part)}: it must be a text that is not empty, or a whole number.`,
  );
}

/**
 * The same check for any text that a store compares byte for byte.
 *
 * @param rules.as the kind of name, for errors: `the name of a lock`
 * @param rules.longest in code points
 * @param rules.remedy how to allow a longer name
 */
export function checkStoredName(
  name: unknown,
  { as, longest, remedy }: { as: string; longest: number; remedy?: string | undefined },
): asserts name is string {
  const refuse = (why: string): never => {
    throw new InvalidLockConfigurationError(`${describeValue(name)} cannot be ${as}: ${why}.`);
  };
  if (typeof name !== 'string') return refuse('it must be a string');
  if (name === '') refuse('it must not be empty');
  // A code point has at most two code units, so that a much longer name needs no count. Counting one of 50 MB takes
  // seconds.
  const length = name.length > 2 * longest ? name.length : Array.from(name).length;
  if (length > longest)
    refuse(`it has ${length} characters, more than ${longest}${remedy === undefined ? '' : ` (${remedy})`}`);
  if (!name.isWellFormed()) refuse('it contains half a surrogate pair');
  if (/\p{Cc}/u.test(name)) refuse('it contains a control character');
  if (name !== name.trim()) refuse('it begins or ends with white space');
  if (name !== name.normalize('NFC')) refuse('it is not in Unicode normal form C: call .normalize() on it');
}

export function checkNameLength(nameLength: number): number {
  const [shortest, longest] = [SHORTEST_NAME_LENGTH, LONGEST_NAME_LENGTH];
  if (Number.isInteger(nameLength) && nameLength >= shortest && nameLength <= longest) return nameLength;
  refuseOption('nameLength', nameLength, `it must be a whole number from ${shortest} to ${longest}`);
}
