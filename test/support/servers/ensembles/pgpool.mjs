import { PrivateServer } from '../private-server.mjs';
import { pgpool, standbyOf } from '../recipes/pgpool.mjs';
import { postgres } from '../recipes/postgres.mjs';
import { findPrivate } from '../steps/private.mjs';
import { stopAll } from './ensemble.mjs';

/**
 * A PostgreSQL server, a standby that follows it, and Pgpool-II before both.
 *
 * @param {(line: string) => void} log
 * @returns {Promise<{ url: string, primary: string, stop: () => Promise<void> }>}
 */
export async function startPgpool(log) {
  /** @type {PrivateServer[]} */ const started = [];
  const stop = () => stopAll([...started].reverse());
  const start = async (/** @type {import('../types.mjs').Recipe} */ recipe, like = recipe) => {
    const { program, origin } = await findPrivate(like, log);
    const server = await PrivateServer.start(recipe, program, origin, {});
    started.push(server);
    return server.url;
  };
  try {
    const primary = await start(postgres);
    const standby = await start(standbyOf(primary), postgres);
    const url = await start(pgpool({ primary, standby }));
    return { url, primary, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
