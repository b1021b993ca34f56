import type { LockColumnTypes } from '../../sql-dialect';

export const lockColumns: LockColumnTypes = {
  tableOptions: '',
  types: () => ({
    name: 'text COLLATE "C"',
    lockUntil: 'timestamptz',
    lockedAt: 'timestamptz',
    lockedBy: 'text COLLATE "C"',
    fencingToken: 'bigint',
  }),
  preciseInstant: ({ type }) => type,
  alter: (table, column, type) => `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${type}`,
};
