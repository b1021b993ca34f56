import { RELEASED_MARK } from '../../../../core/lease/owner';
import { PLACE_NAME } from '../../../../core/lock-name';
import type { LockTableShape, LockTexts, QuotedLockTable } from '../sql-dialect';

export const TOKEN_SEED = '(extract(epoch FROM statement_timestamp()) * 1000000)::bigint';

export function lockRecords(
  { table, name, lockUntil, lockedAt, lockedBy, fencingToken }: QuotedLockTable,
  { now, hasToken }: LockTableShape,
): string {
  return `SELECT ${name} AS name, ${lockedBy} AS locked_by, (${lockUntil} > ${now})::int AS held, (extract(epoch FROM ${now}) * 1000000)::bigint AS now_us,
      (extract(epoch FROM ${lockUntil}) * 1000000)::bigint AS lock_until_us,
      (extract(epoch FROM ${lockedAt}) * 1000000)::bigint AS locked_at_us, ${hasToken ? fencingToken : 'NULL'} AS fencing_token
    FROM ${table}`;
}

export function lockTexts(quoted: QuotedLockTable, shape: LockTableShape): LockTexts {
  const { table, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { now, hasToken, comparesBytes } = shape;
  const after = (parameter: string): string => `${parameter}::bigint * interval '1 microsecond'`;
  const written = `RETURNING ${hasToken ? fencingToken : 'NULL'} AS fencing_token`;
  const exactly = comparesBytes ? '' : ` AND ${name}::text COLLATE "C" = :name::text`;
  const ours = `WHERE ${name} = :name AND ${lockedBy} = :owner AND ${lockUntil} > ${now}`;
  const isLock = `${name} <> '${PLACE_NAME}'`;
  const isExpired = `${isLock} AND ${lockUntil} + ${after(':olderThan')} <= ${now}`;
  return {
    // Not an upsert, which writes WAL and uses up a transaction id even if the lock is held. A held lock returns a row, too.
    // The last words lock nothing, but every proxy sends a statement that ends in them to the primary.
    takeOver: `WITH taken AS (
        UPDATE ${table}
        SET ${lockUntil} = ${now} + ${after(':atMost')}, ${lockedAt} = ${now}, ${lockedBy} = :owner${
          hasToken ? `, ${fencingToken} = GREATEST(${fencingToken} + 1, ${TOKEN_SEED})` : ''
        }
        WHERE ${name} = :name AND ${lockUntil} <= ${now}${exactly} ${written}, true AS is_taken
      )
      SELECT taken.* FROM (SELECT 1) AS here, (SELECT FROM ${table} WHERE ${name} = :name${exactly}) AS record
        LEFT JOIN taken ON true FOR UPDATE OF here`,
    insert: `INSERT INTO ${table} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}${hasToken ? `, ${fencingToken}` : ''})
      VALUES (:name, ${now} + ${after(':atMost')}, ${now}, :owner${hasToken ? `, ${TOKEN_SEED}` : ''})
      ON CONFLICT (${name}) DO NOTHING ${written}`,
    extend: `UPDATE ${table}
      SET ${lockUntil} = GREATEST(${now} + ${after(':atMost')}, ${lockedAt} + ${after(':atLeast')}), ${lockedBy} = :nextOwner
      ${ours} ${written}`,
    unlock: `UPDATE ${table}
      SET ${lockUntil} = GREATEST(${now}, ${lockedAt} + ${after(':atLeast')}), ${lockedBy} = ${lockedBy} || '${RELEASED_MARK}'
      ${ours} ${written}`,
    // A row whose token the clock has not passed is kept, so that the next token is higher.
    deleteRecord: `DELETE FROM ${table}
      ${ours} AND ${lockedAt} + ${after(':atLeast')} <= ${now}${hasToken ? ` AND ${fencingToken} < ${TOKEN_SEED}` : ''} ${written}`,
    // The outer condition is checked again if another process took the lock over meanwhile.
    deleteExpired: `DELETE FROM ${table}
      WHERE ${isExpired} AND ${name} IN (SELECT ${name} FROM ${table} WHERE ${isExpired} LIMIT 1000) ${written}`,
    records: lockRecords(quoted, shape),
  };
}
