import { RELEASED_MARK } from '../../../../core/lease/owner';
import { PLACE_NAME } from '../../../../core/lock-name';
import type { LockTableShape, LockTexts, QuotedLockTable } from '../sql-dialect';

const SINCE_1970 = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01'`;
export const TOKEN_SEED = `${SINCE_1970}, UTC_TIMESTAMP(6))`;

export function lockRecords(
  { table, name, lockUntil, lockedAt, lockedBy, fencingToken }: QuotedLockTable,
  { now, hasToken }: LockTableShape,
): string {
  return `SELECT ${name} AS name, ${lockedBy} AS locked_by, ${lockUntil} > ${now} AS held,
      ${SINCE_1970}, ${lockUntil}) AS lock_until_us, ${SINCE_1970}, ${lockedAt}) AS locked_at_us,
      ${SINCE_1970}, ${now}) AS now_us, ${hasToken ? fencingToken : 'NULL'} AS fencing_token
    FROM ${table}`;
}

export function lockTexts(quoted: QuotedLockTable, shape: LockTableShape): LockTexts {
  const { table, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { now, hasToken, comparesBytes } = shape;
  const exactly = comparesBytes ? '' : ` AND CONVERT(${name} USING utf8mb4) COLLATE utf8mb4_bin = :name`;
  const ours = `WHERE ${name} = :name AND ${lockedBy} = :owner AND ${lockUntil} > ${now}`;
  // Never true. If the row is held, evaluating it sets insertId above 0; if the row is missing, insertId stays 0.
  const isHeld = `LAST_INSERT_ID(LENGTH(${name})) = 0`;
  const isLock = `${name} <> '${PLACE_NAME}'`;
  return {
    // LAST_INSERT_ID(expression) returns the token as insertId in the same round trip.
    takeOver: `UPDATE ${table}
      SET ${lockUntil} = TIMESTAMPADD(MICROSECOND, :atMost, ${now}), ${lockedAt} = ${now}, ${lockedBy} = :owner${
        hasToken ? `, ${fencingToken} = LAST_INSERT_ID(GREATEST(${fencingToken} + 1, ${TOKEN_SEED}))` : ''
      }
      WHERE ${name} = :name${exactly} AND (${lockUntil} <= ${now} OR ${isHeld})`,
    // Plain, because IGNORE hides truncation, and ON DUPLICATE KEY UPDATE does not show whether the row was inserted.
    insert: `INSERT INTO ${table} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}${hasToken ? `, ${fencingToken}` : ''})
      VALUES (:name, TIMESTAMPADD(MICROSECOND, :atMost, ${now}), ${now}, :owner${hasToken ? `, LAST_INSERT_ID(${TOKEN_SEED})` : ''})`,
    extend: `UPDATE ${table}
      SET ${lockUntil} = GREATEST(TIMESTAMPADD(MICROSECOND, :atMost, ${now}), TIMESTAMPADD(MICROSECOND, :atLeast, ${lockedAt})), ${lockedBy} = :nextOwner
      ${ours}`,
    unlock: `UPDATE ${table}
      SET ${lockUntil} = GREATEST(${now}, TIMESTAMPADD(MICROSECOND, :atLeast, ${lockedAt})), ${lockedBy} = CONCAT(${lockedBy}, '${RELEASED_MARK}')
      ${ours}`,
    // A row whose token the clock has not passed is kept, so that the next token is higher.
    deleteRecord: `DELETE FROM ${table}
      ${ours} AND TIMESTAMPADD(MICROSECOND, :atLeast, ${lockedAt}) <= ${now}${hasToken ? ` AND ${fencingToken} < ${TOKEN_SEED}` : ''}`,
    deleteExpired: `DELETE FROM ${table}
      WHERE ${isLock} AND TIMESTAMPADD(MICROSECOND, :olderThan, ${lockUntil}) <= ${now} LIMIT 1000`,
    records: lockRecords(quoted, shape),
  };
}
