import { currentRun } from 'cronlatch';
import { fromKysely } from 'cronlatch/adapters';
import { completeRunIn } from 'cronlatch/pg';
import type { Kysely } from 'kysely';

interface Tables {
  closings: { day: string | undefined };
}

export async function closeDay(db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('closings').values({ day: currentRun().businessDate }).execute();
    await completeRunIn(fromKysely(trx), { result: 'closed with Kysely' });
  });
}
