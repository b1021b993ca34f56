import { inspect } from 'node:util';
import { InvalidLockConfigurationError, InvalidLockUseError } from './errors';

const LONGEST_SHOWN = 80;

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

/**
 * Refuses unknown options for JavaScript, where they would silently be ignored. Two instances of which one misspells
 * `lockTable` would not exclude each other.
 *
 * @param owner what has the options, for the message
 * @param renamed old names with their new ones
 * @throws InvalidLockConfigurationError naming the option, and one that resembles it or else all options
 */
export function checkOptionNames(
  options: object,
  names: readonly string[],
  owner: string,
  renamed: Readonly<Record<string, string>> = {},
): void {
  // The value is not shown, because it can be an address with a password.
  const given: unknown = options;
  if (typeof given !== 'object' || given === null)
    throw new InvalidLockConfigurationError(
      `${owner} needs an object with options, not ${given === null ? 'null' : `a ${typeof given}`}.`,
    );
  const unknown = Object.keys(options).find((key) => !names.includes(key));
  if (unknown === undefined) return;
  const written = unknown.toLowerCase();
  const known = [...names.map((name) => [name, name] as const), ...Object.entries(renamed)];
  const isMeant = ([name]: readonly [string, string]): boolean => name.toLowerCase() === written;
  const near = known.find(isMeant) ?? known.find(([name]) => isNear(written, name.toLowerCase()));
  const remedy = near === undefined ? `The options are ${names.join(', ')}.` : `Did you mean '${near[1]}'?`;
  throw new InvalidLockConfigurationError(`Unknown option '${unknown}' for ${owner}. ${remedy}`);
}

/** Whether at most one character in four is wrong, missing or additional. */
export function isNear(written: string, name: string): boolean {
  const limit = Math.floor(name.length / 4);
  if (Math.abs(written.length - name.length) > limit) return false;
  // Levenshtein's distance, row by row.
  let distances = Array.from({ length: name.length + 1 }, (_, index) => index);
  for (const [row, character] of [...written].entries()) {
    const next = [row + 1];
    for (const [column, expected] of [...name].entries()) {
      const [above = 0, diagonal = 0, left = 0] = [distances[column + 1], distances[column], next[column]];
      next.push(Math.min(above + 1, left + 1, diagonal + (character === expected ? 0 : 1)));
    }
    distances = next;
  }
  return (distances[name.length] ?? 0) <= limit;
}

/** Formats a value for an error message: quoted, on one line, and cut if it is long. */
export function describeValue(value: unknown): string {
  // Cut before quoting: a string may be of any length.
  if (typeof value === 'string' && value.length > LONGEST_SHOWN)
    return `${JSON.stringify(value.slice(0, LONGEST_SHOWN)).slice(0, LONGEST_SHOWN)}… (${value.length} characters)`;
  const text =
    typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 0, breakLength: Infinity });
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}… (${text.length} characters)`;
}

/** An address can contain a password, or be a secret itself. */
export function withoutAddresses(text: string): string {
  return text.replace(/\b[a-z][a-z0-9+.-]*:\/\/(?:.*@)?[^\s'"]*/gi, '***');
}

/** Methods that have gone refuse with their successors, which are methods of `operations(guard)`. */
export function refuseGone(
  { prototype }: { readonly prototype: object },
  owner: string,
  successors: Readonly<Record<string, string>>,
): void {
  for (const [name, successor] of Object.entries(successors)) {
    const value = (): never => {
      throw new InvalidLockUseError(
        `${owner}.${name} is gone. Use operations(guard).${successor} of cronlatch/operations.`,
      );
    };
    Object.defineProperty(prototype, name, { value });
  }
}
