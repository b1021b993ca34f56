import type { ColumnKind } from '../../schema/table-definition';
import type { ColumnTypes } from '../sql-dialect';

const TEXT = 'text COLLATE "C"';
const TYPES: Readonly<Record<ColumnKind['is'], string>> = {
  ...{ id: 'bigserial PRIMARY KEY', text: TEXT, word: TEXT, note: TEXT, document: TEXT },
  ...{ count: 'integer', integer: 'bigint', instant: 'timestamptz' },
};

export const columnTypes: ColumnTypes = {
  tableOptions: () => '',
  type: ({ is }) => TYPES[is],
  preciseInstant: ({ type }) => type,
  withoutTimeZone: (table, columns) =>
    `ALTER TABLE ${table} ${columns.map((column) => `ALTER COLUMN ${column} TYPE timestamp`).join(', ')}`,
  alter: (table, column, type) => `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${type}`,
  createIndex: ({ path, name, unique, columns }) =>
    `CREATE ${unique}INDEX IF NOT EXISTS "${name}" ON ${path.map((part) => `"${part}"`).join('.')} (${columns})`,
};
