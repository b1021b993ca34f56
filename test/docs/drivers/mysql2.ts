import { createJobGuard, inRunTransaction } from 'cronlatch/mysql2';
import type { Pool } from 'mysql2/promise';

export async function settle(pool: Pool): Promise<void> {
  const guard = await createJobGuard(pool);
  const settled = guard.wrap(
    { name: 'settle', lockAtMostFor: '10m', oncePer: { period: 'day', timeZone: 'Europe/Paris' } },
    () =>
      inRunTransaction(async (connection) => {
        await connection.query('INSERT INTO settlement (day) VALUES (CURRENT_DATE)');
      }),
  );
  await settled();
  await guard.close();
}
