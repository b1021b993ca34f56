import { currentRun, type JobGuard } from 'cronlatch';
import { fromKysely } from 'cronlatch/adapters';
import { scheduleLocked } from 'cronlatch/node-cron';
import { completeRunIn } from 'cronlatch/pg';
import { sql } from 'kysely';
import { db } from './database.js';

/** The row and the completion of the run are committed together, or not at all. So each day is closed exactly once. */
async function closeDay(): Promise<void> {
  const { businessDate = '', attempt } = currentRun();
  console.log(`closing ${businessDate} in process ${process.pid}, attempt ${attempt}`);
  await db.transaction().execute(async (trx) => {
    await trx
      .insertInto('closing')
      .values({ business_date: businessDate })
      // After a rerun by an operator, the row is there already.
      .onConflict((conflict) => conflict.column('business_date').doUpdateSet({ closed_at: sql`now()` }))
      .execute();
    await completeRunIn(fromKysely(trx)); // Last before the commit.
  });
}

export function scheduleJobs(guard: JobGuard): void {
  const timeZone = 'Europe/Paris'; // Decides which business day it is.
  const job = {
    name: 'close-day',
    lockAtMostFor: '1m',
    keepAlive: true,
    oncePer: { period: 'day', timeZone },
  } as const;
  // Every two seconds, so that you can watch it. Each night at three: '0 3 * * *'.
  scheduleLocked('*/2 * * * * *', job, closeDay, { guard, timeZone });
}
