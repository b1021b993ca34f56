import { currentRun } from 'cronlatch';
import { fromDrizzle } from 'cronlatch/adapters';
import { completeRunIn } from 'cronlatch/pg';
import { sql } from 'drizzle-orm';
import type { NodePgDatabase } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';

const closings = pgTable('closings', { day: text().primaryKey() });

export async function closeDay(db: NodePgDatabase): Promise<void> {
  const { businessDate = '' } = currentRun();
  await db.transaction(async (tx) => {
    await tx.insert(closings).values({ day: businessDate });
    await completeRunIn(fromDrizzle(tx, sql), { result: 'closed with Drizzle' });
  });
}
