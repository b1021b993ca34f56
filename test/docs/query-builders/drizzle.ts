import { currentRun } from 'cronlatch';
import { completeRunIn, type AdaptedAnswer, type AdaptedTransaction } from 'cronlatch/pg';
import { sql, type SQL } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';

const closings = pgTable('closings', { day: text().primaryKey() });

type Rows = AdaptedAnswer['rows'];
/** What pg or mysql2 answers. */
type Answer = { rows: Rows } | [Rows | { affectedRows: number }, unknown];

export function adapt(tx: { execute(query: SQL): PromiseLike<Answer> }): AdaptedTransaction {
  return {
    dialect: 'postgres',
    async run(statement, values) {
      // The tag binds the values.
      const parts = statement.split(/\$\d+|\?/);
      const answer = await tx.execute(sql(Object.assign(parts, { raw: parts }), ...values));
      const first = Array.isArray(answer) ? answer[0] : answer.rows;
      if ('affectedRows' in first) return { rows: [], affectedRows: first.affectedRows };
      return { rows: first, affectedRows: undefined };
    },
  };
}

export async function closeDay(db: NodePgDatabase): Promise<void> {
  const { businessDate = '' } = currentRun();
  await db.transaction(async (tx) => {
    await tx.insert(closings).values({ day: businessDate });
    await completeRunIn(adapt(tx), { result: 'closed with Drizzle' });
  });
}
