import type { ColumnKind } from '../../schema/table-definition';
import type { ColumnTypes } from '../sql-dialect';

const TYPES: Readonly<Record<ColumnKind['is'], string>> = {
  id: 'INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL',
  ...{ text: 'TEXT', word: 'TEXT', note: 'TEXT', document: 'TEXT' },
  ...{ count: 'INTEGER', integer: 'INTEGER', instant: 'INTEGER' },
};

export const columnTypes: ColumnTypes = {
  tableOptions: ({ primaryKey }) => (primaryKey === undefined ? '' : ' WITHOUT ROWID'),
  type: ({ is }) => TYPES[is],
  preciseInstant: ({ type }) => type,
  alter: () => undefined,
  // SQLite expects the schema before the name of the index, not before the table.
  createIndex: ({ path, name, unique, columns }) =>
    `CREATE ${unique}INDEX IF NOT EXISTS ${[...path.slice(0, -1), name].map((part) => `"${part}"`).join('.')} ON "${path.at(-1)}" (${columns})`,
};
