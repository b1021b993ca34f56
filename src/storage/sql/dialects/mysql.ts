import { RELEASED_MARK } from '../../../core/owner';
import type { SqlDialect } from '../sql-dialect';

const NOW = 'UTC_TIMESTAMP(6)';
const NOW_US = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${NOW})`;
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

/** MySQL 8 and later. */
export const mysql: SqlDialect = {
  name: 'mysql',

  quote: (identifier) => `\`${identifier}\``,

  placeholder: () => '?',

  // DATETIME holding UTC, not TIMESTAMP: that one is read in the session's zone, and has an hour a year that does not exist.
  createLockTable: (t) => `
    CREATE TABLE IF NOT EXISTS ${t.table} (
      ${t.name} VARCHAR(${t.nameLength}) ${TEXT},
      ${t.lockUntil} DATETIME(6) NOT NULL,
      ${t.lockedAt} DATETIME(6) NOT NULL,
      ${t.lockedBy} VARCHAR(255) ${TEXT},
      ${t.fencingToken} BIGINT UNSIGNED NOT NULL DEFAULT 0,
      PRIMARY KEY (${t.name})
    ) ENGINE = InnoDB`,

  lockTexts: ({ table, name, lockUntil, lockedAt, lockedBy, fencingToken }) => {
    const ours = `WHERE ${name} = :name AND ${lockedBy} = :owner AND ${lockUntil} > ${NOW}`;
    const look = `SELECT ${lockedBy} AS locked_by, ${lockUntil} > ${NOW} AS held,
        TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${lockUntil}) AS lock_until_us, ${fencingToken} AS fencing_token
      FROM ${table} WHERE ${name} = :name`;
    return {
      // LAST_INSERT_ID(expression) hands the token over in the same round trip, as insertId.
      takeOver: `UPDATE ${table}
        SET ${lockUntil} = TIMESTAMPADD(MICROSECOND, :atMost, ${NOW}), ${lockedAt} = ${NOW}, ${lockedBy} = :owner,
          ${fencingToken} = LAST_INSERT_ID(GREATEST(${fencingToken} + 1, ${NOW_US}))
        WHERE ${name} = :name AND ${lockUntil} <= ${NOW}`,
      // Plain: IGNORE hides truncation, and with ON DUPLICATE KEY UPDATE winner and loser look the same.
      insert: `INSERT INTO ${table} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}, ${fencingToken})
        VALUES (:name, TIMESTAMPADD(MICROSECOND, :atMost, ${NOW}), ${NOW}, :owner, LAST_INSERT_ID(${NOW_US}))`,
      extend: `UPDATE ${table}
        SET ${lockUntil} = GREATEST(TIMESTAMPADD(MICROSECOND, :atMost, ${NOW}), TIMESTAMPADD(MICROSECOND, :atLeast, ${lockedAt}))
        ${ours}`,
      unlock: `UPDATE ${table}
        SET ${lockUntil} = GREATEST(${NOW}, TIMESTAMPADD(MICROSECOND, :atLeast, ${lockedAt})), ${lockedBy} = CONCAT(${lockedBy}, '${RELEASED_MARK}')
        ${ours}`,
      look,
      // Waits for writers: a plain read could overtake the statement whose outcome is asked for.
      resolve: `${look} FOR UPDATE`,
      probe: `SELECT ${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}, ${fencingToken} FROM ${table} WHERE 1 = 0`,
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
