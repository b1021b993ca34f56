/**
 * The ways to get a server, in order: one that the environment names, a binary on this machine, one unpacked
 * under .servers/ before, one fetched into .servers/ now, Docker.
 *
 * @typedef {import('../types.mjs').Recipe} Recipe
 * @typedef {import('../types.mjs').RunningServer} RunningServer
 * @typedef {{ log: (line: string) => void, hasty?: boolean }} Options
 */
import { messageOf, WrongServerError } from '../errors.mjs';
import { startWithDocker } from './docker.mjs';
import { useNamed, variableOf } from './environment.mjs';
import { startFetched, startFromMachine, startUnpacked } from './private.mjs';

/** @type {[name: string, start: (recipe: Recipe, options: Options) => Promise<RunningServer>][]} */
const steps = [
  ['binary', startFromMachine],
  ['.servers', startUnpacked],
  ['fetch', startFetched],
  ['docker', startWithDocker],
];

/**
 * @param {Recipe} recipe
 * @param {Options & { own?: boolean }} options `own`: a server that the caller may kill
 * @returns {Promise<{ server: RunningServer } | { missing: import('../errors.mjs').MissingServer }>}
 */
export async function bring(recipe, { own = false, ...options }) {
  const variable = variableOf(recipe);
  const named = process.env[variable];
  if (named && own) {
    return missing(recipe, [`environment: ${variable} names a server, and tests must not kill that one`]);
  }
  // If the environment names a server and it is not usable, no other step may hide that.
  if (named) return { server: await useNamed(recipe, named) };

  const reasons = [`environment: ${variable} is not set`];
  for (const [name, start] of steps) {
    try {
      return { server: await start(recipe, options) };
    } catch (error) {
      if (error instanceof WrongServerError) throw error;
      reasons.push(`${name}: ${messageOf(error)}`);
    }
  }
  return missing(recipe, reasons);
}

/** @param {Recipe} recipe @param {string[]} reasons */
function missing({ name }, reasons) {
  return { missing: { name, reasons } };
}
