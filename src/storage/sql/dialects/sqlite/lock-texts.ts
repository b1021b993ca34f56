import { RELEASED_MARK } from '../../../../core/lease/owner';
import { PLACE_NAME } from '../../../../core/lock-name';
import type { LockTableShape, LockTexts, QuotedLockTable } from '../sql-dialect';

export function lockTexts(
  { table, name, lockUntil, lockedAt, lockedBy, fencingToken }: QuotedLockTable,
  { now, hasToken, comparesBytes }: LockTableShape,
): LockTexts {
  const written = `RETURNING ${hasToken ? fencingToken : 'NULL'} AS fencing_token`;
  const exactly = comparesBytes ? '' : ` AND ${name} = :name COLLATE BINARY`;
  const ours = `WHERE ${name} = :name AND ${lockedBy} = :owner AND ${lockUntil} > ${now}`;
  const isLock = `${name} <> '${PLACE_NAME}'`;
  const isExpired = `${isLock} AND ${lockUntil} + :olderThan <= ${now}`;
  return {
    takeOver: `UPDATE ${table}
      SET ${lockUntil} = ${now} + :atMost, ${lockedAt} = ${now}, ${lockedBy} = :owner${
        hasToken ? `, ${fencingToken} = max(${fencingToken} + 1, ${now})` : ''
      }
      WHERE ${name} = :name AND ${lockUntil} <= ${now}${exactly} ${written}`,
    insert: `INSERT INTO ${table} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}${hasToken ? `, ${fencingToken}` : ''})
      VALUES (:name, ${now} + :atMost, ${now}, :owner${hasToken ? `, ${now}` : ''})
      ON CONFLICT (${name}) DO NOTHING ${written}`,
    extend: `UPDATE ${table}
      SET ${lockUntil} = max(${now} + :atMost, ${lockedAt} + :atLeast), ${lockedBy} = :nextOwner
      ${ours} ${written}`,
    unlock: `UPDATE ${table}
      SET ${lockUntil} = max(${now}, ${lockedAt} + :atLeast), ${lockedBy} = ${lockedBy} || '${RELEASED_MARK}'
      ${ours} ${written}`,
    // A row whose token the clock has not passed is kept, so that the next token is higher.
    deleteRecord: `DELETE FROM ${table}
      ${ours} AND ${lockedAt} + :atLeast <= ${now}${hasToken ? ` AND ${fencingToken} < ${now}` : ''} ${written}`,
    deleteExpired: `DELETE FROM ${table}
      WHERE ${name} IN (SELECT ${name} FROM ${table} WHERE ${isExpired} LIMIT 1000) ${written}`,
    records: `SELECT ${name} AS name, ${lockedBy} AS locked_by, ${lockUntil} > ${now} AS held,
      ${lockUntil} AS lock_until_us, ${lockedAt} AS locked_at_us, ${now} AS now_us, ${hasToken ? fencingToken : 'NULL'} AS fencing_token
    FROM ${table}`,
  };
}
