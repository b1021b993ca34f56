import type { Database } from 'better-sqlite3';
import { createJobGuard, inRunTransaction } from 'cronlatch/better-sqlite3';

export async function settle(database: Database): Promise<void> {
  const guard = await createJobGuard(database);
  const settled = guard.wrap(
    { name: 'settle', lockAtMostFor: '10m', oncePer: { period: 'day', timeZone: 'Europe/Paris' } },
    () =>
      inRunTransaction((connection) => {
        connection.exec('INSERT INTO settlement (day) VALUES (CURRENT_DATE)');
      }),
  );
  await settled();
  await guard.close();
}
