import { RedisLockProvider } from 'cronlatch/redis';
import type { Redis } from 'ioredis';

export function locksOn(client: Redis): RedisLockProvider {
  const wait = { client: client.duplicate(), replicas: 1, timeout: '500ms' };
  return new RedisLockProvider({ id: 'orders', client, wait });
}
