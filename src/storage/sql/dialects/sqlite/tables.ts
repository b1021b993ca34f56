import type { TableInspection } from '../../schema/inspected-table';
import type { ColumnKind } from '../../schema/table-definition';
import type { ColumnTypes } from '../sql-dialect';

/** Those that are not text. */
const TYPES: Readonly<Partial<Record<ColumnKind['is'], string>>> = {
  id: 'INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL',
  count: 'INTEGER',
  integer: 'INTEGER',
  instant: 'INTEGER',
};

export const columnTypes: ColumnTypes = {
  tableOptions: ({ primaryKey }) => (primaryKey === undefined ? '' : ' WITHOUT ROWID'),
  type: ({ is }) => TYPES[is] ?? 'TEXT',
  preciseInstant: ({ type }) => type,
  alter: () => undefined,
  // SQLite expects the schema before the name of the index, not before the table.
  createIndex: (table, { name, columns, isUnique }) =>
    `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS ${[...table.slice(0, -1), name].map((part) => `"${part}"`).join('.')} ON "${table.at(-1)}" (${columns.join(', ')})`,
};

const unique = (number: number): string => `
  SELECT 1 FROM pragma_index_list(:table${number}, :schema${number}) i
  WHERE i."unique" = 1 AND i.partial = 0
    AND (SELECT count(*) FROM pragma_index_info(i.name, :schema${number})) = 1
    AND EXISTS (
      SELECT 1 FROM pragma_index_xinfo(i.name, :schema${number}) k WHERE k.key = 1 AND k.name = c.name`;

const columns = (number: number): string => `
  SELECT ${number} AS table_number, t.schema AS found_in, c.name AS name, c.type AS type,
    c."notnull" = 1 AND c.dflt_value IS NULL AND c.pk = 0 AS is_required, t.type AS kind,
    EXISTS (${unique(number)})) AS is_unique,
    EXISTS (${unique(number)} AND k.coll <> 'BINARY')) AS folds,
    (
      SELECT json_group_array(json_array(
        i.name, k.seqno, k.name, i."unique" = 1 AND i.partial = 0 AND k.coll = 'BINARY'))
      FROM pragma_index_list(:table${number}, :schema${number}) i
      JOIN pragma_index_xinfo(i.name, :schema${number}) k ON k.key = 1) AS indexes
  FROM pragma_table_xinfo(:table${number}, :schema${number}) c
  JOIN pragma_table_list(:table${number}) t ON t.schema = :schema${number}
  WHERE c.hidden = 0`;

const TEXT: readonly ColumnKind['is'][] = ['text', 'word', 'note', 'document'];
const INTEGER: readonly ColumnKind['is'][] = ['id', 'integer', 'count', 'instant'];
const HOLDS: Readonly<Record<string, readonly ColumnKind['is'][]>> = {
  TEXT,
  VARCHAR: TEXT,
  INTEGER,
  INT: INTEGER,
  BIGINT: INTEGER,
};

/** Microseconds since 1970, in steps of 1,000. */
const NOW = `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`;

export const inspection: TableInspection = {
  columns,

  parameters({ path }) {
    const [table = '', schema = 'main'] = [...path].reverse();
    return { schema, table };
  },

  table: ({ kind }) => ({ unsuitable: unsuitable(String(kind)) }),

  // SQLite stores the declared type, but does not enforce a length in it.
  holds: (type) => HOLDS[type.replace(/\(.*/, '').trim().toUpperCase()],

  column: (row) => ({
    comparesBytes: row['folds'] === 0,
    isUnicode: true,
    isUnique: row['is_unique'] === 1,
    isRequired: row['is_required'] === 1,
  }),

  foldsColumnNames: true,

  now: () => NOW,
};

function unsuitable(kind: string): string | undefined {
  if (kind === 'table') return undefined;
  return kind === 'view' ? 'is a view, not a table' : `is a ${kind} table, not an ordinary one`;
}
