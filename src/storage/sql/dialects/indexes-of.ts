import type { InspectedIndex } from '../schema/lock-table-shape';
import type { SqlResult } from '../connections/sql-executor';

/** Rows of one column of an index each, in its order; of a unique one, they say whether that can be relied upon. */
export function indexesOf(rows: SqlResult['rows']): readonly InspectedIndex[] {
  const names = new Set(rows.map((row) => row['index_name']));
  return [...names].map((name) => {
    const columns = rows.filter((row) => row['index_name'] === name);
    return {
      name: String(name),
      columns: columns.map((column) => String(column['column_name'])),
      isUnique: columns.every((column) => Number(column['is_unique']) === 1),
    };
  });
}
