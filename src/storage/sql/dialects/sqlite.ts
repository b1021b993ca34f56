import { RELEASED_MARK } from '../../../core/owner';
import { microseconds, type SqlDialect } from '../sql-dialect';

/** Microseconds since 1970; steps by a thousand. */
const NOW = `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`;

/** SQLite 3.42 and later. */
export const sqlite: SqlDialect = {
  name: 'sqlite',

  quotePath: (path) => path.map(quote).join('.'),

  createLockTable: ({ path, columns }) => `
    CREATE TABLE IF NOT EXISTS ${path.map(quote).join('.')} (
      ${quote(columns.name)} TEXT NOT NULL PRIMARY KEY,
      ${quote(columns.lockUntil)} INTEGER NOT NULL,
      ${quote(columns.lockedAt)} INTEGER NOT NULL,
      ${quote(columns.lockedBy)} TEXT NOT NULL,
      ${quote(columns.fencingToken)} INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID`,

  lockStatements: ({ path, columns }) => {
    const table = path.map(quote).join('.');
    const [name, until, at, by, token] = [
      columns.name,
      columns.lockUntil,
      columns.lockedAt,
      columns.lockedBy,
      columns.fencingToken,
    ].map(quote);

    const takeOver = `UPDATE ${table} SET ${until} = ${NOW} + ?, ${at} = ${NOW}, ${by} = ?, ${token} = max(${token} + 1, ${NOW}) WHERE ${name} = ? AND ${until} <= ${NOW} RETURNING ${token} AS fencing_token`;
    const insert = `INSERT INTO ${table} (${name}, ${until}, ${at}, ${by}, ${token}) VALUES (?, ${NOW} + ?, ${NOW}, ?, ${NOW}) ON CONFLICT (${name}) DO NOTHING RETURNING ${token} AS fencing_token`;
    const ours = `WHERE ${name} = ? AND ${by} = ? AND ${until} > ${NOW} RETURNING ${token} AS fencing_token`;
    const extend = `UPDATE ${table} SET ${until} = max(${NOW} + ?, ${at} + ?) ${ours}`;
    const unlock = `UPDATE ${table} SET ${until} = max(${NOW}, ${at} + ?), ${by} = ${by} || '${RELEASED_MARK}' ${ours}`;
    const look = `SELECT ${by} AS locked_by, ${until} > ${NOW} AS held, ${until} AS lock_until_us, ${token} AS fencing_token FROM ${table} WHERE ${name} = ?`;
    const probe = `SELECT ${name}, ${until}, ${at}, ${by}, ${token} FROM ${table} WHERE 1 = 0`;

    return {
      takeOver: (r) => ({ text: takeOver, values: [microseconds(r.lockAtMostForMs), r.owner, r.name] }),
      insert: (r) => ({ text: insert, values: [r.name, microseconds(r.lockAtMostForMs), r.owner] }),
      extend: (r) => ({
        text: extend,
        values: [microseconds(r.lockAtMostForMs), microseconds(r.lockAtLeastForMs), r.name, r.owner],
      }),
      unlock: (r) => ({ text: unlock, values: [microseconds(r.lockAtLeastForMs), r.name, r.owner] }),
      look: (lockName) => ({ text: look, values: [lockName] }),
      // One writer at a time, and a statement is over when it returns: a plain read sees every write that was sent before.
      resolve: (lockName) => ({ text: look, values: [lockName] }),
      probe: () => ({ text: probe, values: [] }),
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

function quote(identifier: string): string {
  return `"${identifier}"`;
}
