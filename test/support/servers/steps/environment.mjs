import { confirmVersion } from '../confirm-version.mjs';
import { messageOf, WrongServerError } from '../errors.mjs';

/** @typedef {import('../types.mjs').Recipe} Recipe */

/** @param {Recipe} recipe */
export function variableOf(recipe) {
  return `CRONLATCH_${recipe.name.toUpperCase()}_URL`;
}

/**
 * @param {Recipe} recipe
 * @param {string} named
 * @returns {Promise<import('../types.mjs').RunningServer>}
 */
export async function useNamed(recipe, named) {
  const url = urlOf(recipe, named);
  try {
    const version = await confirmVersion(recipe, url);
    return { name: recipe.name, url, version, origin: 'environment', stop: async () => {} };
  } catch (cause) {
    // The URL itself is not shown, because it may contain a password.
    throw new WrongServerError(
      `The server that ${variableOf(recipe)} names is not usable: ${messageOf(cause)}`,
      { cause },
    );
  }
}

/** If a test run creates its own databases, it must not touch the named one. */
function urlOf(/** @type {Recipe} */ recipe, /** @type {string} */ named) {
  if (!URL.canParse(named)) throw new WrongServerError(`${variableOf(recipe)} is not a URL.`);
  const url = new URL(named);
  if (!recipe.sharesDatabase) url.pathname = '';
  return url.href;
}
