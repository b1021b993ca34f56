import { EtcdLockProvider } from 'cronlatch/etcd';
import { createJobGuard, createTables } from 'cronlatch/mysql2';

export async function start(endpoints: readonly string[], database: string) {
  await createTables(database, { tables: ['ledger', 'jobs', 'operations'] });
  const locks = new EtcdLockProvider({ endpoints });
  const guard = await createJobGuard(database, { lockProvider: locks });
  return {
    guard,
    async close() {
      await guard.close();
      await locks.close();
    },
  };
}
