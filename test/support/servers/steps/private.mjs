import { existsSync } from 'node:fs';

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

/** @param {Recipe} recipe */
export async function findUnpacked(recipe) {
  if (!existsSync(folderOf(recipe))) throw new Error(`there is no ${shortFolderOf(recipe)}`);
  return recipe.find(folderOf(recipe));
}
