import { InvalidLockConfigurationError } from '../../../core';
import { describeValue } from '../../../core/describe-value';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

/**
 * A table's name as parts that may be quoted: one, or schema and table.
 *
 * @throws InvalidLockConfigurationError naming the part that cannot be an identifier
 */
export function identifierPath(what: string, name: string, schema: string | undefined): readonly string[] {
  const parts = typeof name === 'string' ? name.split('.') : [name];
  const path = schema === undefined ? parts : [schema, ...parts];
  if (path.length > 2) refuseIdentifier(what, path.join('.'), 'a table has one schema at most');
  for (const part of path) checkIdentifier(what, part);
  return path;
}

export function checkIdentifier(what: string, identifier: unknown): void {
  if (typeof identifier === 'string' && IDENTIFIER.test(identifier)) return;
  refuseIdentifier(
    what,
    identifier,
    'an identifier has 1 to 63 letters, digits, _ or $ and does not begin with a digit or $',
  );
}

export function refuseIdentifier(what: string, value: unknown, why: string): never {
  throw new InvalidLockConfigurationError(`${what} is ${describeValue(value)}: ${why}.`);
}
