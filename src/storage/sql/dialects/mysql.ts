import { RELEASED_MARK } from '../../../core/owner';
import { microseconds, type SqlDialect } from '../sql-dialect';

const NOW = 'UTC_TIMESTAMP(6)';
const now_us = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${NOW})`;
const TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL';

const CONTENTION = new Set([1213, 1205, 3572, 1020]);
const NOT_THE_PRIMARY = new Set([1290, 1836, 1792]);
const WRONG_SHAPE = new Set([1054, 1406, 1364]);
/** The server ended the statement or the connection while it ran. */
const ENDED_MIDWAY = new Set([1053, 1317, 2006, 2013]);
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EACCES',
]);

/** MySQL 8 and later, MariaDB 10.6 and later. */
export const mysql: SqlDialect = {
  name: 'mysql',

  quotePath: (path) => path.map(quote).join('.'),

  // DATETIME holding UTC, not TIMESTAMP: that one is read in the session's zone, and has an hour a year that does not exist.
  createLockTable: ({ path, columns, nameLength }) => `
    CREATE TABLE IF NOT EXISTS ${path.map(quote).join('.')} (
      ${quote(columns.name)} VARCHAR(${nameLength}) ${TEXT},
      ${quote(columns.lockUntil)} DATETIME(6) NOT NULL,
      ${quote(columns.lockedAt)} DATETIME(6) NOT NULL,
      ${quote(columns.lockedBy)} VARCHAR(255) ${TEXT},
      ${quote(columns.fencingToken)} BIGINT UNSIGNED NOT NULL DEFAULT 0,
      PRIMARY KEY (${quote(columns.name)})
    ) ENGINE = InnoDB`,

  lockStatements: ({ path, columns }) => {
    const table = path.map(quote).join('.');
    const [name, until, at, by, token] = [
      columns.name,
      columns.lockUntil,
      columns.lockedAt,
      columns.lockedBy,
      columns.fencingToken,
    ].map(quote);

    // LAST_INSERT_ID(expression) hands the token over in the same round trip, as insertId.
    const takeOver = `UPDATE ${table} SET ${until} = TIMESTAMPADD(MICROSECOND, ?, ${NOW}), ${at} = ${NOW}, ${by} = ?, ${token} = LAST_INSERT_ID(GREATEST(${token} + 1, ${now_us})) WHERE ${name} = ? AND ${until} <= ${NOW}`;
    // Plain: IGNORE hides truncation, and with ON DUPLICATE KEY UPDATE winner and loser look the same.
    const insert = `INSERT INTO ${table} (${name}, ${until}, ${at}, ${by}, ${token}) VALUES (?, TIMESTAMPADD(MICROSECOND, ?, ${NOW}), ${NOW}, ?, LAST_INSERT_ID(${now_us}))`;
    const ours = `WHERE ${name} = ? AND ${by} = ? AND ${until} > ${NOW}`;
    const extend = `UPDATE ${table} SET ${until} = GREATEST(TIMESTAMPADD(MICROSECOND, ?, ${NOW}), TIMESTAMPADD(MICROSECOND, ?, ${at})) ${ours}`;
    const unlock = `UPDATE ${table} SET ${until} = GREATEST(${NOW}, TIMESTAMPADD(MICROSECOND, ?, ${at})), ${by} = CONCAT(${by}, '${RELEASED_MARK}') ${ours}`;
    const look = `SELECT ${by} AS locked_by, ${until} > ${NOW} AS held, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${until}) AS lock_until_us, ${token} AS fencing_token FROM ${table} WHERE ${name} = ?`;
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
      // Waits for writers: a plain read could overtake the statement whose outcome is asked for.
      resolve: (lockName) => ({ text: `${look} FOR UPDATE`, values: [lockName] }),
      probe: () => ({ text: probe, values: [] }),
    };
  },

  // Never changedRows. A plain INSERT that meets another row is an error, not a count.
  writtenRows: (result) => result.affectedRows,

  tokenOf: (result) => result.insertId,

  failureOf: ({ code, errno, message }) => {
    // Node's own numbers are negative.
    if (errno !== undefined && errno > 0) {
      if (errno === 1062) return 'duplicate';
      if (CONTENTION.has(errno)) return 'contention';
      if (ENDED_MIDWAY.has(errno)) return 'unknown';
      if (NOT_THE_PRIMARY.has(errno)) return 'not-the-primary';
      if (errno === 1146) return 'missing-table';
      return WRONG_SHAPE.has(errno) ? 'wrong-shape' : 'refused';
    }
    if (code !== undefined && NEVER_SENT.has(code)) return 'refused';
    return message.includes('closed state') ? 'refused' : 'unknown';
  },
};

function quote(identifier: string): string {
  return `\`${identifier}\``;
}
