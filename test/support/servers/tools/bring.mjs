import { messageOf } from '../errors.mjs';
import { fetchServer } from '../fetch/index.mjs';
import { folderOf } from '../unpacked.mjs';

/**
 * A file that is not a server's, but is found in the same ways: on this machine, unpacked under .servers/ before, or
 * fetched there now.
 *
 * @param {import('../types.mjs').Unpacked} recipe
 * @param {(line: string) => void} log
 * @returns {Promise<{ file: string } | { missing: import('../errors.mjs').MissingServer }>}
 */
export async function bring(recipe, log) {
  const unpacked = folderOf(recipe);
  const reasons = [];
  for (const [step, find] of /** @type {const} */ ([
    ['binary', () => recipe.find()],
    ['.servers', () => recipe.find(unpacked)],
    ['fetch', () => fetchServer(recipe, log).then(() => recipe.find(unpacked))],
  ])) {
    try {
      return { file: await find() };
    } catch (error) {
      reasons.push(`${step}: ${messageOf(error)}`);
    }
  }
  return { missing: { name: recipe.label, reasons } };
}
