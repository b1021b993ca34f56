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
  withoutTimeZone: ({ table, lockUntil, lockedAt }) =>
    `ALTER TABLE ${table} ALTER COLUMN ${lockUntil} TYPE timestamp, ALTER COLUMN ${lockedAt} TYPE timestamp`,
  alter: (table, column, type) => `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${type}`,
};
