import type { IndexInspection } from '../../sql-dialect';
import { indexesOf } from '../indexes-of';
import { schemaAndTable } from './inspection';

const INDEXES = `
  SELECT INDEX_NAME AS index_name, COLUMN_NAME AS column_name,
    NON_UNIQUE = 0 AND SUB_PART IS NULL AS is_unique
  FROM information_schema.STATISTICS
  WHERE TABLE_SCHEMA = :schema AND TABLE_NAME = :table
  ORDER BY INDEX_NAME, SEQ_IN_INDEX`;

export const indexInspection: IndexInspection = {
  statement: (location) => ({ text: INDEXES, parameters: schemaAndTable(location) }),

  read: indexesOf,
};
