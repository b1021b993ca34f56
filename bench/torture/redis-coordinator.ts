import type { Redis } from 'ioredis';
import type { RunCoordinator } from 'node-cron';

/**
 * The coordinator in node-cron's documentation for Redis: the first instance that sets a fire's key runs it,
 * and deletes the key after the run.
 */
export function redisCoordinator(redis: Redis, owner: string): RunCoordinator {
  return {
    async shouldRun(key, ttlMs) {
      return (await redis.set(key, owner, 'PX', ttlMs, 'NX')) === 'OK';
    },
    async onComplete(key) {
      await redis.del(key);
    },
  };
}
