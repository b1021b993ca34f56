import type { ColumnTypes } from '../sql-dialect';

const TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

export const columnTypes: ColumnTypes = {
  tableOptions: () => ' ENGINE = InnoDB',
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
        // It holds UTC. TIMESTAMP is read in the session's time zone, and cannot represent one hour per year.
        return 'DATETIME(6)';
    }
  },
  // Without a default, MariaDB adds ON UPDATE to a TIMESTAMP.
  preciseInstant: ({ type }) =>
    type === 'timestamp' ? 'TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6)' : 'DATETIME(6)',
  withoutTimeZone: (table, columns) =>
    `ALTER TABLE ${table} ${columns.map((column) => `MODIFY ${column} DATETIME(6) NOT NULL`).join(', ')}`,
  alter: (table, column, type, { nullable }) =>
    `ALTER TABLE ${table} MODIFY ${column} ${type} ${nullable ? '' : 'NOT '}NULL`,
  // MySQL has no CREATE INDEX IF NOT EXISTS.
  inlineIndex: ({ name, columns, isUnique }) =>
    `${isUnique ? 'UNIQUE ' : ''}KEY \`${name}\` (${columns.join(', ')})`,
  createIndex: ({ path, name, unique, columns }) =>
    `CREATE ${unique}INDEX \`${name}\` ON ${path.map((part) => `\`${part}\``).join('.')} (${columns})`,
};
