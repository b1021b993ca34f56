import { createJobGuard, createTables } from 'cronlatch/mysql2';
import { RedisLockProvider } from 'cronlatch/redis';
import { Redis } from 'ioredis';

export async function start(redisUrl: string, databaseUrl: string) {
  await createTables(databaseUrl, { tables: ['ledger', 'jobs', 'operations'] });
  const client = new Redis(redisUrl);
  const locks = new RedisLockProvider({ id: 'orders', client, subscriber: client.duplicate() });
  const guard = await createJobGuard(databaseUrl, { lockProvider: locks });
  return {
    guard,
    async close() {
      await guard.close();
      await locks.close();
      client.disconnect();
    },
  };
}
