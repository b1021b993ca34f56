import type { ColumnTypes } from '../sql-dialect';

export const columnTypes: ColumnTypes = {
  tableOptions: ({ primaryKey }) => (primaryKey === undefined ? '' : ' WITHOUT ROWID'),
  type: (kind) => {
    switch (kind.is) {
      case 'id':
        return 'INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL';
      case 'text':
      case 'word':
      case 'note':
      case 'document':
        return 'TEXT';
      case 'count':
      case 'integer':
      case 'instant':
        return 'INTEGER';
    }
  },
  preciseInstant: ({ type }) => type,
  alter: () => undefined,
  // SQLite expects the schema before the name of the index, not before the table.
  createIndex: ({ path, name, unique, columns }) =>
    `CREATE ${unique}INDEX IF NOT EXISTS ${[...path.slice(0, -1), name].map((part) => `"${part}"`).join('.')} ON "${path.at(-1)}" (${columns})`,
};
