import { RELEASED_MARK } from '../../../core/owner';
import type { SqlDialect } from '../sql-dialect';

/** Microseconds since 1970; steps by a thousand. */
const NOW = `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`;

/** SQLite 3.42 and later. */
export const sqlite: SqlDialect = {
  name: 'sqlite',

  quote: (identifier) => `"${identifier}"`,

  placeholder: () => '?',

  createLockTable: (t) => `
    CREATE TABLE IF NOT EXISTS ${t.table} (
      ${t.name} TEXT NOT NULL PRIMARY KEY,
      ${t.lockUntil} INTEGER NOT NULL,
      ${t.lockedAt} INTEGER NOT NULL,
      ${t.lockedBy} TEXT NOT NULL,
      ${t.fencingToken} INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID`,

  lockTexts: ({ table, name, lockUntil, lockedAt, lockedBy, fencingToken }) => {
    const token = `RETURNING ${fencingToken} AS fencing_token`;
    const ours = `WHERE ${name} = :name AND ${lockedBy} = :owner AND ${lockUntil} > ${NOW} ${token}`;
    const look = `SELECT ${lockedBy} AS locked_by, ${lockUntil} > ${NOW} AS held,
        ${lockUntil} AS lock_until_us, ${fencingToken} AS fencing_token
      FROM ${table} WHERE ${name} = :name`;
    return {
      takeOver: `UPDATE ${table}
        SET ${lockUntil} = ${NOW} + :atMost, ${lockedAt} = ${NOW}, ${lockedBy} = :owner, ${fencingToken} = max(${fencingToken} + 1, ${NOW})
        WHERE ${name} = :name AND ${lockUntil} <= ${NOW} ${token}`,
      insert: `INSERT INTO ${table} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}, ${fencingToken})
        VALUES (:name, ${NOW} + :atMost, ${NOW}, :owner, ${NOW})
        ON CONFLICT (${name}) DO NOTHING ${token}`,
      extend: `UPDATE ${table}
        SET ${lockUntil} = max(${NOW} + :atMost, ${lockedAt} + :atLeast)
        ${ours}`,
      unlock: `UPDATE ${table}
        SET ${lockUntil} = max(${NOW}, ${lockedAt} + :atLeast), ${lockedBy} = ${lockedBy} || '${RELEASED_MARK}'
        ${ours}`,
      look,
      // One writer at a time, and a statement is over when it returns: a plain read sees every write that was sent before.
      resolve: look,
      probe: `SELECT ${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}, ${fencingToken} FROM ${table} WHERE 1 = 0`,
    };
  },

  // Every writing statement returns its row.
  writtenRows: (result) => result.rows.length,

  tokenOf: (result) => result.rows[0]?.['fencing_token'],

  failureOf: ({ code, message }) => {
    if (code?.startsWith('SQLITE_BUSY') || code?.startsWith('SQLITE_LOCKED')) return 'contention';
    if (code?.startsWith('SQLITE_READONLY')) return 'not-the-primary';
    if (/no such table/i.test(message)) return 'missing-table';
    if (/no such column|has no column named/i.test(message)) return 'wrong-shape';
    // A statement that failed was undone before it returned; only a failing disk leaves a doubt.
    return code?.startsWith('SQLITE_IOERR') ? 'unknown' : 'refused';
  },
};
