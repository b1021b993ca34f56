import type { DataSource } from 'typeorm';
import { timeExpressionsOf } from './lock-table';

const HOUR_US = 3_600_000_000;

export interface FinishedRuns {
  readonly job?: string;
  readonly count: number;
  /** One run per hour or per hourly tick up to now, oldest first; or runs without a period, as a key function has them. */
  readonly period: 'hour' | 'tick' | 'none';
}

/** Inserts completed runs in one statement, the oldest first. The oldest was written `count` hours ago. */
export async function insertFinishedRuns(
  dataSource: DataSource,
  { job = 'hourly', count, period }: FinishedRuns,
): Promise<void> {
  const { now, earlier } = timeExpressionsOf(dataSource);
  const isMysql = dataSource.options.type === 'mysql' || dataSource.options.type === 'mariadb';
  const keyOf = (number: string): string => `CAST(${number} AS ${isMysql ? 'CHAR' : 'TEXT'})`;
  const hoursAgo = (hours: string): string => earlier(now, `(${hours}) * ${HOUR_US}`);
  const start = period !== 'none' ? hoursAgo(`${count} - n`) : 'NULL';
  const end = period === 'hour' ? hoursAgo(`${count} - n - 1`) : 'NULL';
  await dataSource.query(
    `INSERT INTO cronlatch_run (job_name, scope, period_key, period_start, period_end, state, attempt, created_at, updated_at)
     SELECT '${job}', '', ${keyOf('n')}, ${start}, ${end}, 'completed', 1, ${hoursAgo(`${count} - n`)}, ${hoursAgo(`${count} - n - 1`)}
     FROM (${numbersBelow(count)} ORDER BY n LIMIT ${count}) numbers`,
  );
}

/** A query of the numbers from 0 on that every database accepts. */
function numbersBelow(count: number): string {
  const digits = `(SELECT 0 d ${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((d) => `UNION ALL SELECT ${d}`).join(' ')})`;
  const places = Array.from({ length: String(count).length }, (_, place) => place);
  const value = places.map((place) => `t${place}.d * ${10 ** place}`).join(' + ');
  const tables = places.map((place) => `${digits} t${place}`).join(' CROSS JOIN ');
  return `SELECT n FROM (SELECT ${value} AS n FROM ${tables}) every WHERE n < ${count}`;
}
