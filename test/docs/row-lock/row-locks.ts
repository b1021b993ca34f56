import { createJobGuard, createTables, RowLockProvider } from 'cronlatch/mysql2';

export async function start(address: string) {
  await createTables(address, { tables: ['lock', 'ledger', 'jobs', 'row-lock'] });
  const locks = new RowLockProvider(address, { maxConnections: 10 });
  await locks.check();
  const guard = await createJobGuard(address, { lockProvider: locks });
  return {
    guard,
    async close() {
      await guard.close();
      await locks.close();
    },
  };
}
