import { once } from 'node:events';
import { createJobGuard, createTables } from 'cronlatch/mysql2';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import { createClient } from 'node-zookeeper-client';

export async function start(servers: string, database: string) {
  await createTables(database, { tables: ['ledger', 'jobs', 'operations'] });
  const client = createClient(servers, { sessionTimeout: 30_000 });
  const connected = once(client, 'connected');
  client.connect();
  await connected;
  const locks = new ZooKeeperLockProvider({ client, path: '/billing/locks' });
  const guard = await createJobGuard(database, { lockProvider: locks });
  return {
    guard,
    async close() {
      await guard.close();
      await locks.close();
      client.close();
    },
  };
}
