import { WrongServerError } from './errors.mjs';

/**
 * Asks the server itself for its version. A binary's name proves nothing (Debian's `mysqld` is MariaDB), and
 * a test suite on the wrong family would prove nothing either.
 *
 * @param {import('./types.mjs').Recipe} recipe
 * @param {string} url
 */
export async function confirmVersion(recipe, url) {
  const version = await recipe.askVersion(url);
  const objection = recipe.objectionTo(version);
  if (objection) throw new WrongServerError(`${recipe.label} was asked for, but ${objection}.`);
  return version;
}
