import { etcd } from './etcd.mjs';
import { mariadb } from './mariadb.mjs';
import { mysql } from './mysql.mjs';
import { pgbouncer } from './pgbouncer.mjs';
import { postgres } from './postgres.mjs';
import { redis } from './redis.mjs';
import { zookeeper } from './zookeeper.mjs';

/** @type {import('../types.mjs').Recipe[]} */
export const recipes = [mysql, mariadb, postgres, redis(), zookeeper(), etcd(), pgbouncer()];

/** @param {string} name */
export function recipeFor(name) {
  const recipe = recipes.find((candidate) => candidate.name === name);
  if (recipe) return recipe;
  throw new Error(
    `No test knows a server '${name}'; known: ${recipes.map((known) => known.name).join(', ')}.`,
  );
}
