import { currentRun } from 'cronlatch';
import { completeRunIn, type AdaptedTransaction } from 'cronlatch/pg';
import type { Knex } from 'knex';

export function adapt(trx: Knex.Transaction): AdaptedTransaction {
  return {
    dialect: 'postgres',
    async run(text, values) {
      // Knex has the placeholder ? for every database.
      const answer = await trx.raw(text.replace(/\$\d+/g, '?'), values);
      const [first] = Array.isArray(answer) ? answer : [answer.rows];
      if (Array.isArray(first)) return { rows: first, affectedRows: undefined };
      return { rows: [], affectedRows: first.affectedRows };
    },
  };
}

export async function closeDay(db: Knex): Promise<void> {
  await db.transaction(async (trx) => {
    await trx('closings').insert({ day: currentRun().businessDate });
    await completeRunIn(adapt(trx), { result: 'closed with Knex' });
  });
}
