import type { RunColumnTypes } from '../../sql-dialect';

const TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

export const runColumns: RunColumnTypes = {
  tableOptions: ' ENGINE = InnoDB',
  type: (kind) => {
    switch (kind.is) {
      case 'id':
        return 'BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY';
      case 'text':
        return `VARCHAR(${kind.length}) ${TEXT}`;
      case 'word':
        return `VARCHAR(${kind.length}) CHARACTER SET ascii COLLATE ascii_bin`;
      case 'note':
        return `TEXT ${TEXT}`;
      case 'document':
        return `MEDIUMTEXT ${TEXT}`;
      case 'count':
        return 'INT UNSIGNED';
      case 'integer':
        return 'BIGINT UNSIGNED';
      case 'instant':
        return 'DATETIME(6)';
    }
  },
  // CREATE INDEX knows no IF NOT EXISTS here.
  inlineIndex: ({ name, columns, isUnique }) =>
    `${isUnique ? 'UNIQUE ' : ''}KEY \`${name}\` (${columns.join(', ')})`,
  createIndex: ({ path, name, unique, columns }) =>
    `CREATE ${unique}INDEX \`${name}\` ON ${path.map((part) => `\`${part}\``).join('.')} (${columns})`,
};
