import { currentRun } from 'cronlatch';
import { completeRunIn, type AdaptedTransaction } from 'cronlatch/pg';
import { CompiledQuery, type Kysely, type Transaction } from 'kysely';

interface Tables {
  closings: { day: string | undefined };
}

type Row = Record<string, unknown>;

export function adapt<DB>(trx: Transaction<DB>): AdaptedTransaction {
  return {
    dialect: 'postgres',
    async run(text, values) {
      const query = CompiledQuery.raw(text, [...values]);
      const { rows, numAffectedRows = 0n } = await trx.withoutPlugins().executeQuery<Row>(query);
      return { rows, affectedRows: Number(numAffectedRows) };
    },
  };
}

export async function closeDay(db: Kysely<Tables>): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.insertInto('closings').values({ day: currentRun().businessDate }).execute();
    await completeRunIn(adapt(trx), { result: 'closed with Kysely' });
  });
}
