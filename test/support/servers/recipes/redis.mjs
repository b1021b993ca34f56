import { join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { withOwnLoader } from '../unpacked.mjs';

/**
 * Debian has the program in `redis-tools`; Ubuntu links it with two libraries of Lua that are not in the
 * section of libraries.
 */
const packages = { packagePrefix: 'redis-server', parts: ['redis-tools', 'lua-bitop', 'lua-cjson'] };

/**
 * Redis, or its fork Valkey. It keeps nothing on disk: after a restart it is empty.
 *
 * @type {import('../types.mjs').Recipe}
 */
export const redis = {
  name: 'redis',
  label: 'Redis',
  containerPort: 6379,
  packages: { debian: packages, ubuntu: packages },

  async find(root) {
    const server = root
      ? { ...(await withOwnLoader(root, 'usr/bin/redis-server')), root }
      : { file: await onMachine(), args: [] };
    const answer = await run(server.file, [...server.args, '--version']);
    const version = /\bv=(\S+)/.exec(answer)?.[1] ?? answer.trim();
    const objection = objectionTo(version);
    if (objection) throw new Error(`${server.file} is not usable: ${objection}`);
    return { ...server, version };
  },

  async initialize() {
    // It needs only an empty folder.
  },

  serve(_program, folder, port) {
    const settings = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' };
    return {
      args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]),
      ready: /Ready to accept connections/,
    };
  },

  sharesDatabase: true,
  url: (port) => `redis://127.0.0.1:${port}`,

  async askVersion(url) {
    const { Redis } = await import('ioredis');
    const client = new Redis(url, {
      lazyConnect: true,
      connectTimeout: 10_000,
      commandTimeout: 10_000,
      retryStrategy: () => null,
    });
    // The rejected command reports it; without a listener the client would print it, too.
    client.on('error', () => {});
    try {
      await client.connect();
      const answer = await client.info('server');
      return /^redis_version:(\S+)/m.exec(answer)?.[1] ?? answer;
    } finally {
      client.disconnect();
    }
  },

  objectionTo,
};

/** @returns {Promise<string>} */
async function onMachine() {
  try {
    return await findExecutable('redis-server');
  } catch (error) {
    return findExecutable('valkey-server').catch(() => Promise.reject(error));
  }
}

/** @param {string} version Valkey reports the equivalent version of Redis here */
function objectionTo(version) {
  const major = Number.parseInt(version);
  if (major >= 6) return undefined;
  return Number.isNaN(major) ? `it is not Redis (${version})` : `it is older than 6 (${version})`;
}
