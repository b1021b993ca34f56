import type { GroupTexts, LockTableShape, QuotedLockTable } from '../sql-dialect';
import { lockRecords, TOKEN_SEED } from './lock-texts';

const MEMBERS = `json_to_recordset(:group::json) AS j(name text, owner text, "nextOwner" text, "atMost" bigint, "atLeast" bigint)`;

const after = (column: string): string => `j."${column}" * interval '1 microsecond'`;

export function groupTexts(quoted: QuotedLockTable, shape: LockTableShape): GroupTexts | undefined {
  const { table, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { now, hasToken, comparesBytes } = shape;
  if (!comparesBytes) return undefined;
  // With an array, the planner finds the rows by their names, regardless of its statistics.
  const listed = `${name} = ANY (ARRAY(SELECT j.name FROM ${MEMBERS}))`;
  // Only the take-over meets rows that other processes write. It skips them, so no two processes wait for each other.
  const free = `WITH free AS (
      SELECT ${name} FROM ${table} WHERE ${listed} AND ${lockUntil} <= ${now} ORDER BY ${name} FOR UPDATE SKIP LOCKED
    )`;
  const written = `RETURNING l.${name} AS name, ${hasToken ? `l.${fencingToken}` : 'NULL'} AS fencing_token`;
  const ours = `FROM ${MEMBERS}
      WHERE l.${listed} AND l.${name} = j.name AND l.${lockedBy} = j.owner AND l.${lockUntil} > ${now} ${written}`;
  const texts = {
    takeOver: `${free} UPDATE ${table} AS l
      SET ${lockUntil} = ${now} + ${after('atMost')}, ${lockedAt} = ${now}, ${lockedBy} = j.owner${
        hasToken ? `, ${fencingToken} = GREATEST(l.${fencingToken} + 1, ${TOKEN_SEED})` : ''
      }
      FROM free JOIN ${MEMBERS} ON free.${name} = j.name
      WHERE l.${name} = free.${name} AND l.${lockUntil} <= ${now} ${written}`,
    extend: `UPDATE ${table} AS l
      SET ${lockUntil} = GREATEST(${now} + ${after('atMost')}, l.${lockedAt} + ${after('atLeast')}), ${lockedBy} = j."nextOwner"
      ${ours}`,
    unlock: `UPDATE ${table} AS l
      SET ${lockUntil} = GREATEST(${now}, l.${lockedAt} + ${after('atLeast')}), ${lockedBy} = j."nextOwner"
      ${ours}`,
    inspect: `${lockRecords(quoted, shape)} WHERE ${listed}`,
  };
  return (key, members) => ({ text: texts[key], parameters: { group: JSON.stringify(members) } });
}
