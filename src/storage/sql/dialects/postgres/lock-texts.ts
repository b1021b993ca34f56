import { RELEASED_MARK } from '../../../../core/lease/owner';
import { PLACE_NAME } from '../../../../core/lock-name';
import type { NamedStatement } from '../../statements/statement';
import type { GroupStatements, LockTableShape, LockTexts, QuotedLockTable } from '../sql-dialect';

const TOKEN_SEED = '(extract(epoch FROM statement_timestamp()) * 1000000)::bigint';

function lockRecords(
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

const MEMBERS = `json_to_recordset(:group::json) AS j(name text, owner text, "nextOwner" text, "atMost" bigint, "atLeast" bigint)`;

const after = (column: string): string => `j."${column}" * interval '1 microsecond'`;

export function groupStatements(
  quoted: QuotedLockTable,
  shape: LockTableShape,
  named: (text: string) => NamedStatement,
): GroupStatements | undefined {
  const { table, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { now, hasToken, comparesBytes } = shape;
  if (!comparesBytes) return undefined;
  // With an array, the planner finds the rows by their names, regardless of its statistics.
  const listed = `${name} = ANY (ARRAY(SELECT j.name FROM ${MEMBERS}))`;
  const written = `RETURNING l.${name} AS name, l.${lockedBy} AS locked_by`;
  const ours = `FROM ${MEMBERS}
      WHERE l.${listed} AND l.${name} = j.name AND l.${lockedBy} = j.owner AND l.${lockUntil} > ${now} ${written}`;
  const texts = {
    // Only the take-over meets rows that other processes write. It skips them, so no two processes wait for each other.
    // It returns the rows that it has written, and the others as they were before. The last words lock nothing, but every
    // proxy sends a statement that ends in them to the primary.
    takeOver: `WITH free AS (
        SELECT ${name} FROM ${table} WHERE ${listed} AND ${lockUntil} <= ${now} ORDER BY ${name} FOR UPDATE SKIP LOCKED
      ), taken AS (
        UPDATE ${table} AS l
        SET ${lockUntil} = ${now} + ${after('atMost')}, ${lockedAt} = ${now}, ${lockedBy} = j.owner${
          hasToken ? `, ${fencingToken} = GREATEST(l.${fencingToken} + 1, ${TOKEN_SEED})` : ''
        }
        FROM free JOIN ${MEMBERS} ON free.${name} = j.name
        WHERE l.${name} = free.${name} AND l.${lockUntil} <= ${now} RETURNING l.*
      )
      SELECT r.* FROM (SELECT 1) AS here, (
        ${lockRecords({ ...quoted, table: 'taken' }, shape)} UNION ALL
        ${lockRecords(quoted, shape)} WHERE ${listed} AND ${name} NOT IN (SELECT ${name} FROM taken)
      ) AS r FOR UPDATE OF here`,
    insertFree: `INSERT INTO ${table} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}${hasToken ? `, ${fencingToken}` : ''})
      SELECT j.name, ${now}, ${now}, j.owner || '${RELEASED_MARK}'${hasToken ? ', 0' : ''} FROM ${MEMBERS} ORDER BY j.name COLLATE "C"
      ON CONFLICT (${name}) DO NOTHING`,
    extend: `UPDATE ${table} AS l
      SET ${lockUntil} = GREATEST(${now} + ${after('atMost')}, l.${lockedAt} + ${after('atLeast')}), ${lockedBy} = j."nextOwner"
      ${ours}`,
    unlock: `UPDATE ${table} AS l
      SET ${lockUntil} = GREATEST(${now}, l.${lockedAt} + ${after('atLeast')}), ${lockedBy} = j."nextOwner"
      ${ours}`,
  };
  return { write: (key, members) => named(texts[key]).bind({ group: JSON.stringify(members) }) };
}
