/**
 * A job that runs once per business day, with a plain pool of pg: no TypeORM and no decorators. `cronlatch/mysql2` and
 * `cronlatch/better-sqlite3` have the same functions.
 *
 * Run: DATABASE_URL=postgres://user:password@localhost:5432/database npm run example pg-pool
 * Prints, once per day:
 *   cronlatch … guards 1 job on …: settlement ….
 *   settling …
 *   cronlatch … run:completed: job 'settlement' for … completed in … (attempt 1, scheduled at …).
 */
import { currentRun } from 'cronlatch';
import { scheduleLocked } from 'cronlatch/node-cron';
import { createJobGuard, createTables, inRunTransaction } from 'cronlatch/pg';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });

async function settle(): Promise<void> {
  const { businessDate } = currentRun();
  console.log(`settling ${businessDate}`);
  // This row and the completion of the run are committed together, or not at all.
  await inRunTransaction(async (client) => {
    await client.query('INSERT INTO settlement (business_date, total) VALUES ($1, 100)', [businessDate]);
  });
}

async function main(): Promise<void> {
  await createTables(pool); // In production, when you deploy.
  await pool.query('CREATE TABLE IF NOT EXISTS settlement (business_date date PRIMARY KEY, total integer)');
  const guard = await createJobGuard(pool);
  const oncePer = { period: 'day', timeZone: 'Europe/Paris' } as const;
  const job = { name: 'settlement', lockAtMostFor: '1m', keepAlive: true, oncePer };
  // Every three seconds, so that you can watch it. Nightly: '0 3 * * *'.
  scheduleLocked('*/3 * * * * *', job, settle, { guard, timeZone: 'Europe/Paris' });
  guard.closeOnSignals();
}

void main();
