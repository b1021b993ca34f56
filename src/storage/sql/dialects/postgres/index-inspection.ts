import type { IndexInspection } from '../../sql-dialect';
import { indexesOf } from '../indexes-of';
import { FIRST_SEARCH_PATH } from './inspection';

const INDEXES = `
  SELECT i.indexrelid AS index_name, a.attname AS column_name,
    (i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL
      AND i.indcollation[k.position - 1] = a.attcollation)::int AS is_unique
  FROM (${FIRST_SEARCH_PATH}) first
  JOIN pg_index i ON i.indrelid = to_regclass(:table || left(first.search_path, 0))
  CROSS JOIN generate_series(1, i.indnkeyatts) AS k (position)
  LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[k.position - 1]
  ORDER BY i.indexrelid, k.position`;

export const indexInspection: IndexInspection = {
  statement: ({ path }) => ({
    text: INDEXES,
    parameters: { table: path.map((part) => `"${part}"`).join('.') },
  }),

  read: indexesOf,
};
