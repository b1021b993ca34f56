import { currentRun, type JobGuard } from 'cronlatch';
import { scheduleLocked } from 'cronlatch/node-cron';
import { completeRunIn, type AdaptedTransaction } from 'cronlatch/pg';
import { CompiledQuery, sql, type Transaction } from 'kysely';
import { db } from './database.js';

type Row = Record<string, unknown>;

/** For `completeRunIn`, which sends its statements inside the transaction. */
function adapt<DB>(trx: Transaction<DB>): AdaptedTransaction {
  return {
    dialect: 'postgres',
    async run(text, values) {
      const query = CompiledQuery.raw(text, [...values]);
      const { rows, numAffectedRows = 0n } = await trx.withoutPlugins().executeQuery<Row>(query);
      return { rows, affectedRows: Number(numAffectedRows) };
    },
  };
}

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
    await completeRunIn(adapt(trx)); // Last before the commit.
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
