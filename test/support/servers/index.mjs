/**
 * Real servers for the tests.
 *
 * The test run starts the servers itself: private throw-away instances on a free port of 127.0.0.1, each with
 * its own data folder, so that tests can kill and restart them and two runs never meet. A server that was
 * already running is used only if an environment variable names it.
 *
 * For every server the steps of `steps/index.mjs` are tried in order; the first that succeeds wins. If none
 * does, the server is missing, and each step has reported its reason.
 *
 * Every started server ends with this process, however the process ends: see `process/guard.mjs`.
 *
 * A new kind of server is one file in `recipes/` and, for Docker, one service in `../compose.yaml`.
 *
 * @typedef {import('./types.mjs').RunningServer} RunningServer
 * @typedef {import('./errors.mjs').MissingServer} MissingServer
 */
import { startEtcds } from './ensembles/etcd.mjs';
import { startPgpool as startPgpoolEnsemble } from './ensembles/pgpool.mjs';
import { startGalera } from './ensembles/galera.mjs';
import { startSentinels } from './ensembles/sentinel.mjs';
import { startZookeepers } from './ensembles/zookeeper.mjs';
import { MissingServerError } from './errors.mjs';
import { recipeFor } from './recipes/index.mjs';
import { pgbouncer } from './recipes/pgbouncer.mjs';
import { KEPT, redis } from './recipes/redis.mjs';
import { bring } from './steps/index.mjs';
import { bringPromtool } from './tools/promtool.mjs';

/**
 * Starts the named servers, including those of `required`. An unavailable server is listed in `missing`; if
 * it is required, all servers are stopped again and the promise rejects with MissingServerError. It also
 * rejects if a server turns out to be of another family than the requested one.
 *
 * @param {string[]} names
 * @param {{ required?: string[], hasty?: boolean, log?: (line: string) => void }} [options] `hasty`: faster
 *   servers, which lose data if they are killed
 * @returns {Promise<{ running: RunningServer[], missing: MissingServer[], stop(): Promise<void> }>}
 */
export async function startServers(names, { required = [], hasty = false, log = console.error } = {}) {
  const recipes = [...new Set([...names, ...required])].map(recipeFor);
  const outcomes = await Promise.allSettled(recipes.map((recipe) => bring(recipe, { log, hasty })));

  const settled = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const running = settled.flatMap((outcome) => ('server' in outcome ? [outcome.server] : []));
  const missing = settled.flatMap((outcome) => ('missing' in outcome ? [outcome.missing] : []));
  const stop = async () => void (await Promise.all(running.map((server) => server.stop())));

  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  const missed = missing.filter(({ name }) => required.includes(name));
  if (failure || missed.length > 0) {
    await stop();
    throw failure ? failure.reason : new MissingServerError(missed);
  }
  return { running, missing, stop };
}

/**
 * Starts a server for one test alone, which may `kill()` and `restart()` it. Rejects with MissingServerError
 * if only a server named by an environment variable, or none at all, is available: such a test must be
 * skipped.
 *
 * @param {string} name
 * @param {{ log?: (line: string) => void, args?: string[] }} [options] `args`: further arguments of its program
 * @returns {Promise<import('./types.mjs').OwnServer>}
 */
export async function startServer(name, { log = console.error, args = [] } = {}) {
  const recipe = recipeFor(name);
  /** @type {typeof recipe.serve} */
  const serve = (...of) => {
    const usual = recipe.serve(...of);
    return { ...usual, args: [...usual.args, ...args] };
  };
  return await startRecipe({ ...recipe, serve }, log);
}

/**
 * Starts PgBouncer in front of a PostgreSQL server, likewise.
 *
 * @param {{ url: string, mode: 'session' | 'transaction' | 'statement' }} target
 * @param {{ log?: (line: string) => void }} [options]
 */
export async function startPgbouncer(target, { log = console.error } = {}) {
  return await startRecipe(pgbouncer(target), log);
}

/**
 * Starts PostgreSQL with a standby, and Pgpool-II before both, likewise.
 *
 * @param {{ log?: (line: string) => void }} [options]
 */
export async function startPgpool({ log = console.error } = {}) {
  return await startPgpoolEnsemble(log);
}

/** promtool is not a server, but the tests get it in the same ways. @param {{ log?: (line: string) => void }} [options] */
export async function findPromtool(options) {
  return await bringPromtool(options);
}

/**
 * Starts a Redis that keeps every answered write when it is killed, likewise.
 *
 * @param {{ log?: (line: string) => void }} [options]
 */
export async function startRedisThatKeeps({ log = console.error } = {}) {
  return await startRecipe(redis(KEPT), log);
}

/**
 * Starts several servers that elect a leader, for one test alone. Rejects with MissingServerError if only other servers
 * than private ones are available.
 *
 * @param {'zookeeper' | 'etcd' | 'sentinel' | 'galera'} name
 * @param {number} size
 * @param {{ log?: (line: string) => void }} [options]
 */
export async function startEnsemble(name, size, { log = console.error } = {}) {
  return await ENSEMBLES[name](size, log);
}

const ENSEMBLES = {
  zookeeper: startZookeepers,
  etcd: startEtcds,
  sentinel: startSentinels,
  galera: startGalera,
};

/** @param {import('./types.mjs').Recipe} recipe @param {(line: string) => void} log */
async function startRecipe(recipe, log) {
  const outcome = await bring(recipe, { log, own: true });
  if ('missing' in outcome) throw new MissingServerError([outcome.missing]);
  return /** @type {import('./types.mjs').OwnServer} */ (outcome.server);
}
