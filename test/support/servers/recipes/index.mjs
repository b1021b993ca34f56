import { mariadb } from './mariadb.mjs';
import { mysql } from './mysql.mjs';
import { postgres } from './postgres.mjs';
import { redis } from './redis.mjs';

/** @type {import('../types.mjs').Recipe[]} */
export const recipes = [mysql, mariadb, postgres, redis];

/** @param {string} name */
export function recipeFor(name) {
  const recipe = recipes.find((candidate) => candidate.name === name);
  if (recipe) return recipe;
  throw new Error(
    `No test knows a server '${name}'; known: ${recipes.map((known) => known.name).join(', ')}.`,
  );
}
