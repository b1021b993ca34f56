import type { LockColumnTypes } from '../../sql-dialect';

export const lockColumns: LockColumnTypes = {
  tableOptions: ' WITHOUT ROWID',
  types: () => ({
    name: 'TEXT',
    lockUntil: 'INTEGER',
    lockedAt: 'INTEGER',
    lockedBy: 'TEXT',
    fencingToken: 'INTEGER',
  }),
  preciseInstant: ({ type }) => type,
  alter: () => undefined,
};
