import type { Redis } from 'ioredis';
import type { RunCoordinator } from 'node-cron';

/** What node-cron documents for Redis: the first to set a fire's key runs it, and deletes the key when the run has ended. */
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
