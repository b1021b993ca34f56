import type { GroupTexts, LockTableShape, QuotedLockTable } from '../sql-dialect';
import { lockRecords, TOKEN_SEED } from './lock-texts';

/** A group is filled up with its last member to one of these sizes, so that few statements are prepared. */
const SIZES = [4, 8, 16, 32, 50];

/** Each statement finds its rows by the unique index, because InnoDB locks every row that it reads. */
export function groupTexts(table: QuotedLockTable, shape: LockTableShape): GroupTexts | undefined {
  if (!shape.comparesBytes || shape.overridesClock || shape.keyIndex === undefined) return undefined;
  const bySize = new Map(SIZES.map((size) => [size, textsFor(size, table, shape)]));
  return (key, members) => {
    const size = SIZES.find((each) => each >= members.length) ?? members.length;
    return { text: (bySize.get(size) ?? textsFor(size, table, shape))[key] };
  };
}

function textsFor(
  size: number,
  quoted: QuotedLockTable,
  shape: LockTableShape,
): Record<Parameters<GroupTexts>[0], string> {
  const { table, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { now, hasToken, keyIndex = '' } = shape;
  const numbers = Array.from({ length: size }, (_, number) => number);
  const own = (parameter: string): string =>
    `CASE ${name} ${numbers.map((number) => `WHEN :name${number} THEN :${parameter}${number}`).join(' ')} END`;
  const after = (parameter: string, instant: string): string =>
    `TIMESTAMPADD(MICROSECOND, ${own(parameter)}, ${instant})`;
  const listed = `${name} IN (${numbers.map((number) => `:name${number}`).join(', ')})`;
  const update = `UPDATE ${table} FORCE INDEX (\`${keyIndex.replaceAll('`', '``')}\`)`;
  const ours = `WHERE ${listed} AND ${lockedBy} = ${own('owner')} AND ${lockUntil} > ${now} ORDER BY ${name}`;
  return {
    // Every token that it writes is the same, so the answer can hold it. A row whose token the clock has not passed is left.
    takeOver: `${update}
      SET ${lockUntil} = ${after('atMost', now)}, ${lockedAt} = ${now}, ${lockedBy} = ${own('owner')}${
        hasToken ? `, ${fencingToken} = LAST_INSERT_ID(${TOKEN_SEED})` : ''
      }
      WHERE ${listed} AND ${lockUntil} <= ${now}${hasToken ? ` AND ${fencingToken} < ${TOKEN_SEED}` : ''} ORDER BY ${name}`,
    extend: `${update}
      SET ${lockUntil} = GREATEST(${after('atMost', now)}, ${after('atLeast', lockedAt)}), ${lockedBy} = ${own('nextOwner')}
      ${ours}`,
    unlock: `${update}
      SET ${lockUntil} = GREATEST(${now}, ${after('atLeast', lockedAt)}), ${lockedBy} = ${own('nextOwner')}
      ${ours}`,
    inspect: `${lockRecords(quoted, shape)} WHERE ${listed}`,
  };
}
