import type { RunColumnTypes } from '../../sql-dialect';

export const runColumns: RunColumnTypes = {
  tableOptions: '',
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
  createIndex: ({ path, name, unique, columns }) =>
    `CREATE ${unique}INDEX IF NOT EXISTS "${name}" ON ${path.map((part) => `"${part}"`).join('.')} (${columns})`,
};
