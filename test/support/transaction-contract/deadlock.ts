import type { AskedDatabase } from '../databases/asked';
import type { Queryable } from '../databases/effects';

/** Rejects, because InnoDB rolls back the transaction that has written less. */
export async function deadlock({ ask }: AskedDatabase, transaction: Queryable): Promise<void> {
  await ask('START TRANSACTION');
  try {
    const rows = Array.from({ length: 50 }, (_, index) => `('other', ${index})`);
    await ask(`INSERT INTO effect (run, attempt) VALUES ${rows.join(', ')}`);
    await transaction.query('UPDATE cronlatch_run SET scope = scope WHERE 1 = 1');
    const waitsForRun = ask('SELECT * FROM cronlatch_run FOR UPDATE');
    const waitsForOther = transaction.query(`UPDATE effect SET attempt = 99 WHERE run = 'other'`);
    await Promise.all([waitsForRun, waitsForOther]);
  } finally {
    await ask('ROLLBACK');
  }
}
