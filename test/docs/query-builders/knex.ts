import { currentRun } from 'cronlatch';
import { fromKnex } from 'cronlatch/adapters';
import { completeRunIn } from 'cronlatch/pg';
import type { Knex } from 'knex';

export async function closeDay(db: Knex): Promise<void> {
  await db.transaction(async (trx) => {
    await trx('closings').insert({ day: currentRun().businessDate });
    await completeRunIn(fromKnex(trx), { result: 'closed with Knex' });
  });
}
