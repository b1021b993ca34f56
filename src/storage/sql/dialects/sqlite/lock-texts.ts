import { RELEASED_MARK } from '../../../../core/lease/owner';
import type { LockTableShape, LockTexts, QuotedLockTable } from '../sql-dialect';

export function lockTexts(
  { table, name, lockUntil, lockedAt, lockedBy, fencingToken }: QuotedLockTable,
  { now, hasToken, comparesBytes }: LockTableShape,
): LockTexts {
  const written = `RETURNING ${hasToken ? fencingToken : 'NULL'} AS fencing_token`;
  const exactly = comparesBytes ? '' : ` AND ${name} = :name COLLATE BINARY`;
  const ours = `WHERE ${name} = :name AND ${lockedBy} = :owner AND ${lockUntil} > ${now} ${written}`;
  const inspect = `SELECT ${name} AS name, ${lockedBy} AS locked_by, ${lockUntil} > ${now} AS held,
      ${lockUntil} AS lock_until_us, ${hasToken ? fencingToken : 'NULL'} AS fencing_token
    FROM ${table} WHERE ${name} = :name`;
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
      ${ours}`,
    unlock: `UPDATE ${table}
      SET ${lockUntil} = max(${now}, ${lockedAt} + :atLeast), ${lockedBy} = ${lockedBy} || '${RELEASED_MARK}'
      ${ours}`,
    inspect,
    // Statements run one at a time and end when they return, so a plain read sees every write that was sent before.
    resolve: inspect,
  };
}
