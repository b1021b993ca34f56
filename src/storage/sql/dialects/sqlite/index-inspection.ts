import type { IndexInspection } from '../../sql-dialect';
import { indexesOf } from '../indexes-of';

const INDEXES = `
  SELECT i.name AS index_name, k.name AS column_name,
    i."unique" = 1 AND i.partial = 0 AND k.coll = 'BINARY' AS is_unique
  FROM pragma_index_list(:table, :schema) i
  JOIN pragma_index_xinfo(i.name, :schema) k ON k.key = 1
  ORDER BY i.seq, k.seqno`;

export const indexInspection: IndexInspection = {
  statement: ({ path }) => {
    const [table = '', schema = 'main'] = [...path].reverse();
    return { text: INDEXES, parameters: { table, schema } };
  },

  read: indexesOf,
};
