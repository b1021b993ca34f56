import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';
import { newOwner } from '#cronlatch/core/lease/owner';
import { LOCK_AT_MOST_FOR_US } from '../contenders/terms';
import { installedVersion } from '../report/surroundings';
import type { BenchRedis } from './redis-server';

/** Tries once. @returns a function that releases the lock, or `undefined` if another owner holds it */
export type Take = (key: string) => Promise<(() => Promise<unknown>) | undefined>;

/** A library from npm that the project does not depend on. */
export interface Peer {
  readonly package: string;
  readonly version: string;
  /** @param library what `require` of the package returns */
  take(library: never, redis: BenchRedis): Take;
}

const LOCK_AT_MOST_FOR_MS = LOCK_AT_MOST_FOR_US / 1000;

const COMPARE_AND_DELETE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

/** The usual lock of two commands. */
export async function bareTake({ client, prefix }: BenchRedis): Promise<Take> {
  const sha1 = String(await client.script('LOAD', COMPARE_AND_DELETE));
  return async (name) => {
    const [key, owner] = [`${prefix}driver:${name}`, newOwner()];
    if ((await client.set(key, owner, 'PX', LOCK_AT_MOST_FOR_MS, 'NX')) !== 'OK') return undefined;
    return async () => {
      if ((await client.evalsha(sha1, 1, key, owner)) !== 1) throw new Error(`${key} was not released.`);
    };
  };
}

interface Mutex {
  tryAcquire(): Promise<boolean>;
  release(): Promise<void>;
}

interface RedisSemaphore {
  readonly Mutex: new (client: Redis, key: string, options: object) => Mutex;
}

interface NodeCronRedis {
  readonly RedisLockCoordinator: new (
    client: Redis,
    options: object,
  ) => {
    shouldRun(key: string, ttlMs: number): Promise<boolean>;
    onComplete(key: string): Promise<void>;
  };
}

/** Without renewals, as the library's default, and without a pause after a refusal. */
const MUTEX = {
  lockTimeout: LOCK_AT_MOST_FOR_MS,
  acquireAttemptsLimit: 1,
  retryInterval: 0,
  refreshInterval: 0,
};

export const PEERS: readonly Peer[] = [
  {
    package: 'redis-semaphore',
    version: '5.8.0',
    take({ Mutex }: RedisSemaphore, { client, prefix }) {
      return async (name) => {
        const mutex = new Mutex(client, `${prefix}${name}`, MUTEX);
        return (await mutex.tryAcquire()) ? () => mutex.release() : undefined;
      };
    },
  },
  {
    // node-cron calls these two methods for each tick. Its own work is not measured.
    package: '@node-cron/redis-coordinator',
    version: '0.1.0',
    take({ RedisLockCoordinator }: NodeCronRedis, { client, prefix }) {
      const coordinator = new RedisLockCoordinator(client, { keyPrefix: `${prefix}node-cron:` });
      return async (name) => {
        // As the keys of node-cron: a name and a scheduled time.
        const key = `${name}:2026-11-20T03:00:00.000Z`;
        return (await coordinator.shouldRun(key, LOCK_AT_MOST_FOR_MS))
          ? () => coordinator.onComplete(key)
          : undefined;
      };
    },
  },
];

/** @returns the installed peer, or why it cannot be measured. It has locked, been refused and unlocked once. */
export async function preparePeer(
  peer: Peer,
  redis: BenchRedis,
): Promise<
  { readonly name: string; readonly take: Take } | { readonly name: string; readonly reason: string }
> {
  const { package: name, version } = peer;
  try {
    // Not a dependency that everyone installs, so the compiler must not look for it.
    const take = peer.take(createRequire(__filename)(name) as never, redis);
    const key = `trial-${randomUUID()}`;
    const release = await take(key);
    const second = await take(key);
    await release?.();
    if (release === undefined || second !== undefined || (await take(key)) === undefined)
      throw new Error('it does not lock as expected');
    return { name: `${name} ${installedVersion(name)}`, take };
  } catch (error) {
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    const isMissing = code === 'MODULE_NOT_FOUND' && String(message).includes(`'${name}'`);
    return {
      name,
      reason: isMissing ? `it is not installed: npm install --no-save ${name}@${version}` : String(error),
    };
  }
}
