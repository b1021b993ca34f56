import type { ColumnTypes } from '../sql-dialect';

export const columnTypes: ColumnTypes = {
  tableOptions: () => '',
  type: (kind) => {
    switch (kind.is) {
      case 'id':
        return 'bigserial PRIMARY KEY';
      case 'text':
      case 'word':
      case 'note':
      case 'document':
        return 'text COLLATE "C"';
      case 'count':
        return 'integer';
      case 'integer':
        return 'bigint';
      case 'instant':
        return 'timestamptz';
    }
  },
  preciseInstant: ({ type }) => type,
  withoutTimeZone: (table, columns) =>
    `ALTER TABLE ${table} ${columns.map((column) => `ALTER COLUMN ${column} TYPE timestamp`).join(', ')}`,
  alter: (table, column, type) => `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${type}`,
  createIndex: ({ path, name, unique, columns }) =>
    `CREATE ${unique}INDEX IF NOT EXISTS "${name}" ON ${path.map((part) => `"${part}"`).join('.')} (${columns})`,
};
