import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { withOwnLoader } from '../unpacked.mjs';

/**
 * Debian has the program in `redis-tools`; Ubuntu links it with two libraries of Lua that are not in the
 * section of libraries.
 */
const packages = { packagePrefix: 'redis-server', parts: ['redis-tools', 'lua-bitop', 'lua-cjson'] };

/** Keeps every write that was answered, also when the server is killed. */
export const KEPT = { appendonly: 'yes', appendfsync: 'always' };

/**
 * Redis, or its fork Valkey. Without other settings it keeps nothing on disk: after a restart it is empty.
 *
 * @param {Record<string, string | number>} [settings]
 * @returns {import('../types.mjs').Recipe}
 */
export function redis(settings = {}) {
  return {
    name: 'redis',
    label: 'Redis',
    containerPort: 6379,
    packages: { debian: packages, ubuntu: packages },
    inMemory: settings.appendonly === 'yes',

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
      const all = { port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no', ...settings };
      return {
        args: Object.entries(all).flatMap(([name, value]) => [`--${name}`, `${value}`]),
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
}

/**
 * A sentinel: the same program, which watches a primary and its replicas.
 *
 * @param {{ name: string, port: number, quorum: number }} primary
 * @returns {import('../types.mjs').Recipe}
 */
export function sentinel({ name, port: primaryPort, quorum }) {
  return {
    ...redis(),
    name: 'sentinel',
    label: 'Redis Sentinel',

    serve(_program, folder, port) {
      const file = join(folder, 'sentinel.conf');
      // It writes into the file what it learns.
      if (!existsSync(file))
        writeFileSync(
          file,
          `bind 127.0.0.1
dir ${folder}
sentinel monitor ${name} 127.0.0.1 ${primaryPort} ${quorum}
sentinel down-after-milliseconds ${name} 1000
sentinel failover-timeout ${name} 3000
`,
        );
      return { args: [file, '--sentinel', '--port', `${port}`], ready: /Sentinel ID is/ };
    },
  };
}

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
