import { existsSync } from 'node:fs';

import { messageOf, MissingServerError } from '../errors.mjs';
import { fetchServer } from '../fetch/index.mjs';
import { PrivateServer } from '../private-server.mjs';
import { folderOf, shortFolderOf } from '../unpacked.mjs';

/**
 * @typedef {import('../types.mjs').Recipe} Recipe
 * @typedef {import('./index.mjs').Options} Options
 */

/** @param {Recipe} recipe @param {Options} options */
export async function startFromMachine(recipe, options) {
  return PrivateServer.start(recipe, await recipe.find(), 'binary', options);
}

/** @param {Recipe} recipe @param {Options} options */
export async function startUnpacked(recipe, options) {
  return PrivateServer.start(recipe, await findUnpacked(recipe), '.servers', options);
}

/** @param {Recipe} recipe @param {Options} options */
export async function startFetched(recipe, options) {
  await fetchServer(recipe, options.log);
  return startUnpacked(recipe, options);
}

/**
 * The program, wherever a private instance can get it, fetched if needed.
 *
 * @param {Recipe} recipe
 * @param {(line: string) => void} log
 * @returns {Promise<{ program: import('../types.mjs').Program, origin: 'binary' | '.servers' }>}
 */
export async function findPrivate(recipe, log) {
  const reasons = [];
  for (const [step, origin, find] of /** @type {const} */ ([
    ['binary', 'binary', () => recipe.find()],
    ['.servers', '.servers', () => findUnpacked(recipe)],
    ['fetch', '.servers', () => fetchServer(recipe, log).then(() => findUnpacked(recipe))],
  ])) {
    try {
      return { program: await find(), origin };
    } catch (error) {
      reasons.push(`${step}: ${messageOf(error)}`);
    }
  }
  throw new MissingServerError([{ name: recipe.name, reasons }]);
}

/** @param {Recipe} recipe */
async function findUnpacked(recipe) {
  if (!existsSync(folderOf(recipe))) throw new Error(`there is no ${shortFolderOf(recipe)}`);
  return recipe.find(folderOf(recipe));
}
