import { InvalidLockConfigurationError } from '../../core/errors';
import { checkStoredName } from '../../core/lock-name';

/** The key of the period that an instant belongs to: 1–64 characters, the same at each call for the same instant. */
export type PeriodKeyFunction = (at: Date) => string;

const LONGEST_KEY = 64;

/** @throws InvalidLockConfigurationError when the function throws, or returns what cannot be a key */
export function customKeyAt(keyFunction: PeriodKeyFunction, at: Date): string {
  const instant = at.toISOString();
  const key = called(keyFunction, at, instant);
  checkStoredName(key, { as: `the key of a period (for ${instant})`, longest: LONGEST_KEY });
  return key;
}

function called(keyFunction: PeriodKeyFunction, at: Date, instant: string): unknown {
  try {
    // A copy: the function may change what it is given.
    return keyFunction(new Date(at));
  } catch (cause) {
    throw new InvalidLockConfigurationError(
      `The key function threw for ${instant}: it must return a key for every instant.`,
      { cause },
    );
  }
}
