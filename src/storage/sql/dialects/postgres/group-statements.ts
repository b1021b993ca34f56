import { RELEASED_MARK } from '../../../../core/lease/owner';
import type { NamedStatement } from '../../statements/statement';
import type { GroupStatements, LockTableShape, QuotedLockTable } from '../sql-dialect';
import { lockRecords, TOKEN_SEED } from './lock-texts';

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
