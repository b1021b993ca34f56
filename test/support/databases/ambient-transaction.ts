import type { DataSource } from 'typeorm';

/** The application's own table, for the writes of a job. */
export const APPLICATION_TABLE = 'CREATE TABLE day_totals (total INTEGER NOT NULL)';

/**
 * Runs `body` inside a transaction of the application that has already read and written, so it has its
 * snapshot. As with `typeorm-transactional`, every `dataSource.query` joins the transaction.
 */
export async function ambientTransaction(
  application: DataSource,
  end: 'commit' | 'rollback',
  body: () => Promise<void>,
): Promise<void> {
  const runner = application.createQueryRunner();
  const query = application.query.bind(application);
  await runner.startTransaction();
  try {
    await runner.query('SELECT COUNT(*) AS totals FROM day_totals');
    await runner.query('INSERT INTO day_totals (total) VALUES (1)');
    application.query = <T>(text: string, values?: unknown[]): Promise<T> => query<T>(text, values, runner);
    await body();
    if (end === 'commit') await runner.commitTransaction();
  } finally {
    Reflect.deleteProperty(application, 'query');
    if (runner.isTransactionActive) await runner.rollbackTransaction();
    await runner.release();
  }
}
