import type { JobGuard } from 'cronlatch';
import { EtcdLockProvider } from 'cronlatch/etcd';
import { InMemoryLockProvider } from 'cronlatch/memory';
import type { LockProvider } from 'cronlatch/provider';
import { RedisLockProvider } from 'cronlatch/redis';
import { createJobGuard, RowLockProvider } from 'cronlatch/typeorm';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import type { DataSource } from 'typeorm';

const logger = { error: console.error, warn: console.warn }; // A line per sale would be too many.

export const LOCKS = {
  lease: (dataSource) => createJobGuard(dataSource, { logger }),
  unique: (dataSource) => createJobGuard(dataSource, { keepRows: false, logger }),
  row: (dataSource) => guardWith(dataSource, new RowLockProvider(dataSource)), // Not on SQLite.
  async redis(dataSource) {
    const { Redis } = await import('ioredis');
    const client = new Redis(addressIn('REDIS_URL'));
    const locks = new RedisLockProvider({ id: 'redis', client, keyPrefix: 'flash-sale:' });
    return await guardWith(dataSource, locks, () => client.disconnect());
  },
  async zookeeper(dataSource) {
    const { createClient } = await import('node-zookeeper-client');
    const client = createClient(new URL(addressIn('ZOOKEEPER_URL')).host);
    client.connect();
    const locks = new ZooKeeperLockProvider({ client, path: '/flash-sale' });
    return await guardWith(dataSource, locks, () => client.close());
  },
  etcd: (dataSource) =>
    guardWith(
      dataSource,
      new EtcdLockProvider({ endpoints: addressIn('ETCD_URL'), keyPrefix: 'flash-sale/' }),
    ),
  // A lock in the memory of each process, so none between them.
  none: (dataSource) => createJobGuard(dataSource, { lockProvider: new InMemoryLockProvider(), logger }),
} satisfies Record<string, (dataSource: DataSource) => Promise<JobGuard>>;

export const kindOfLock = (process.env['LOCK'] ?? 'lease') as keyof typeof LOCKS;

async function guardWith(
  dataSource: DataSource,
  lockProvider: LockProvider & { close(): Promise<void> },
  disconnect = (): void => {},
): Promise<JobGuard> {
  const guard = await createJobGuard(dataSource, { lockProvider, logger });
  guard.onClose({
    async close() {
      await lockProvider.close();
      disconnect();
    },
  });
  return guard;
}

function addressIn(variable: string): string {
  const address = process.env[variable];
  if (address === undefined) throw new Error(`Set ${variable} to the address of the server.`);
  return address;
}
