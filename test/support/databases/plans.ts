/**
 * The tables that a plan reads as a whole.
 *
 * @param explained the rows of `EXPLAIN`, or of SQLite's `EXPLAIN QUERY PLAN`
 */
export function readWithoutIndex(explained: readonly unknown[]): string[] {
  return explained.flatMap((step) => {
    const read = step as Readonly<Record<string, unknown>>;
    // SQLite
    if ('detail' in read)
      return String(read['detail']).match(/^SCAN (?!(g|k|found|j|n|d)\b|CONSTANT)(?!.*INDEX).*/g) ?? [];
    // PostgreSQL
    if ('QUERY PLAN' in read) return String(read['QUERY PLAN']).match(/Seq Scan.*/g) ?? [];
    // MySQL 9
    if ('EXPLAIN' in read)
      return String(read['EXPLAIN']).match(/Table scan on (?!<|(j|d|g|k|n|found)\b).*/g) ?? [];
    const [key, table] = [read['key'], String(read['table'])];
    return key === null && !/^(<|(j|d|null)$)/.test(table) ? [table] : [];
  });
}
