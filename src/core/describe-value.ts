import { inspect } from 'node:util';

const LONGEST = 80;

/** Formats a value for an error message: quoted, on one line, and cut if it is long. */
export function describeValue(value: unknown): string {
  // Cut before quoting: a string may be of any length.
  if (typeof value === 'string' && value.length > LONGEST)
    return `${JSON.stringify(value.slice(0, LONGEST)).slice(0, LONGEST)}… (${value.length} characters)`;
  const text =
    typeof value === 'string' ? JSON.stringify(value) : inspect(value, { depth: 0, breakLength: Infinity });
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length} characters)`;
}
