import { redis, sentinel } from '../recipes/redis.mjs';
import { answersOf, eventually, LONGEST_ANSWER_MS, startTogether, stopAll } from './ensemble.mjs';

/** The name of the primary among the sentinels. */
const PRIMARY = 'main';

/** A new replica gets the data at once. */
const hasty = { 'repl-diskless-sync-delay': 0, 'repl-ping-replica-period': 1 };

/**
 * A primary, its replicas, and as many sentinels, of which the majority must agree. The members are the data servers,
 * and `urls` are the sentinels'.
 *
 * @param {number} size
 * @param {(line: string) => void} log
 * @returns {Promise<import('./ensemble.mjs').Ensemble>}
 */
export async function startSentinels(size, log) {
  /** @type {import('../types.mjs').OwnServer[]} */ const started = [];
  const stop = () => stopAll(started);
  try {
    const [primary] = await startTogether([redis(hasty)], log);
    started.push(primary);
    const { port } = new URL(primary.url);
    const replica = redis({ ...hasty, replicaof: `127.0.0.1 ${port}` });
    started.push(
      ...(await startTogether(
        Array.from({ length: size - 1 }, () => replica),
        log,
      )),
    );
    const members = [...started];
    const watch = sentinel({ name: PRIMARY, port: Number(port), quorum: Math.floor(size / 2) + 1 });
    const sentinels = await startTogether(
      Array.from({ length: size }, () => watch),
      log,
    );
    started.push(...sentinels);
    await eventually('A complete group of sentinels', async () => {
      const known = await answersOf(sentinels, askPrimary);
      const others = `${size - 1}`;
      const all = known.every(({ answer }) => answer.slaves === others && answer.sentinels === others);
      return (all && known.length === size) || undefined;
    });
    return {
      name: 'sentinel',
      version: primary.version,
      members,
      urls: sentinels.map(({ url }) => url),
      leader: () =>
        eventually('A primary of Redis', async () => {
          const known = await answersOf(sentinels, askPrimary);
          const roles = await answersOf(members, askRole);
          return roles.find(
            ({ server, answer }) =>
              answer[0] === 'master' &&
              known.filter(({ answer: { port: named } }) => named === new URL(server.url).port).length >
                size / 2,
          )?.server;
        }),
      settled: () =>
        eventually('The replicas of the primary of Redis', async () => {
          const states = (await answersOf(members, askRole)).map(({ answer: [role, , , state] }) => [
            role,
            state,
          ]);
          const follows = states.filter(([role, state]) => role === 'slave' && state === 'connected').length;
          return (states.length === size && follows === size - 1) || undefined;
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param {string} url */
async function askPrimary(url) {
  return await asking(url, async (client) => {
    const fields = /** @type {string[]} */ (await client.call('SENTINEL', 'MASTER', PRIMARY));
    const field = (/** @type {string} */ name) => fields[fields.indexOf(name) + 1];
    return { port: field('port'), slaves: field('num-slaves'), sentinels: field('num-other-sentinels') };
  });
}

/** @param {string} url @returns {Promise<any[]>} */
async function askRole(url) {
  return await asking(url, (client) => client.role());
}

/**
 * @template T
 * @param {string} url
 * @param {(client: import('ioredis').Redis) => Promise<T>} ask
 * @returns {Promise<T>}
 */
async function asking(url, ask) {
  const { Redis } = await import('ioredis');
  const client = new Redis(url, {
    ...{ lazyConnect: true, enableReadyCheck: false },
    ...{ connectTimeout: LONGEST_ANSWER_MS, commandTimeout: LONGEST_ANSWER_MS, retryStrategy: () => null },
  });
  // The rejected command reports it; without a listener the client would print it, too.
  client.on('error', () => {});
  try {
    await client.connect();
    return await ask(client);
  } finally {
    client.disconnect();
  }
}
