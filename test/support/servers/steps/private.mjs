import { existsSync } from 'node:fs';

import { fetchServer } from '../fetch/index.mjs';
import { PrivateServer } from '../private-server.mjs';
import { folderOf, shortFolderOf } from '../unpacked.mjs';

/**
 * @typedef {import('../types.mjs').Recipe} Recipe
 * @typedef {(line: string) => void} Log
 */

/** @param {Recipe} recipe */
export async function startFromMachine(recipe) {
  return PrivateServer.start(recipe, await recipe.find(), 'binary');
}

/** @param {Recipe} recipe */
export async function startUnpacked(recipe) {
  return PrivateServer.start(recipe, await findUnpacked(recipe), '.servers');
}

/** @param {Recipe} recipe @param {Log} log */
export async function startFetched(recipe, log) {
  await fetchServer(recipe, log);
  return startUnpacked(recipe);
}

/** @param {Recipe} recipe */
export async function findUnpacked(recipe) {
  if (!existsSync(folderOf(recipe))) throw new Error(`there is no ${shortFolderOf(recipe)}`);
  return recipe.find(folderOf(recipe));
}
