import { currentRun } from 'cronlatch';
import { completeRunIn, createJobGuard } from 'cronlatch/pg';
import type { Pool } from 'pg';

export async function settle(pool: Pool): Promise<void> {
  const guard = await createJobGuard(pool);
  const settled = guard.wrap(
    { name: 'settle', lockAtMostFor: '10m', oncePer: { period: 'day', timeZone: 'Europe/Paris' } },
    async () => {
      const run = currentRun();
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        await client.query('INSERT INTO settlement (day) VALUES (CURRENT_DATE)');
        await completeRunIn(client, { run });
        await client.query('COMMIT');
        client.release();
      } catch (error) {
        client.release(true); // Closes the connection, so the server rolls back.
        throw error;
      }
    },
  );
  await settled();
  await guard.close();
}
