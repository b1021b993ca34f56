import type { LockColumnTypes } from '../../sql-dialect';

const TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

export const lockColumns: LockColumnTypes = {
  tableOptions: ' ENGINE = InnoDB',
  types: (nameLength) => ({
    name: `VARCHAR(${nameLength}) ${TEXT}`,
    // DATETIME holding UTC, not TIMESTAMP: that one is read in the session's zone, and has an hour a year that does not exist.
    lockUntil: 'DATETIME(6)',
    lockedAt: 'DATETIME(6)',
    lockedBy: `VARCHAR(255) ${TEXT}`,
    fencingToken: 'BIGINT UNSIGNED',
  }),
  // The default keeps MariaDB from adding ON UPDATE to a TIMESTAMP of its own accord.
  preciseInstant: ({ type }) =>
    type === 'timestamp' ? 'TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6)' : 'DATETIME(6)',
  withoutTimeZone: ({ table, lockUntil, lockedAt }) =>
    `ALTER TABLE ${table} MODIFY ${lockUntil} DATETIME(6) NOT NULL, MODIFY ${lockedAt} DATETIME(6) NOT NULL`,
  alter: (table, column, type, { nullable } = { nullable: false }) =>
    `ALTER TABLE ${table} MODIFY ${column} ${type} ${nullable ? '' : 'NOT '}NULL`,
};
