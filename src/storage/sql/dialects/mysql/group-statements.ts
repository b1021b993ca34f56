import { RELEASED_MARK } from '../../../../core/lease/owner';
import type { NamedStatement } from '../../statements/statement';
import type { GroupedWrite, GroupStatements, LockTableShape, QuotedLockTable } from '../sql-dialect';
import { lockRecords, TOKEN_SEED } from './lock-texts';

/** A group is filled up with its last member to one of these sizes, so that few statements are prepared. */
const SIZES = [4, 8, 16, 32, 50];

/** Each statement finds its rows by the unique index, because InnoDB locks every row that it reads. */
export function groupStatements(
  table: QuotedLockTable,
  shape: LockTableShape,
  named: (text: string) => NamedStatement,
): GroupStatements | undefined {
  if (!shape.comparesBytes || shape.keyIndex === undefined) return undefined;
  const bySize = new Map(SIZES.map((size) => [size, textsFor(size, table, shape)]));
  const textsOf = ({ length }: readonly unknown[]): ReturnType<typeof textsFor> => {
    const size = SIZES.find((each) => each >= length) ?? length;
    return bySize.get(size) ?? textsFor(size, table, shape);
  };
  return {
    write: (key, members) => named(textsOf(members)[key]).bindMembers(members),
    read: (members) => named(textsOf(members).read).bindMembers(members),
  };
}

function textsFor(
  size: number,
  quoted: QuotedLockTable,
  shape: LockTableShape,
): Record<GroupedWrite | 'read', string> {
  const { table, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { now, hasToken, keyIndex = '' } = shape;
  const numbers = Array.from({ length: size }, (_, number) => number);
  const own = (parameter: string): string =>
    `CASE ${name} ${numbers.map((number) => `WHEN :name${number} THEN :${parameter}${number}`).join(' ')} END`;
  const after = (parameter: string, instant: string): string =>
    `TIMESTAMPADD(MICROSECOND, ${own(parameter)}, ${instant})`;
  const listed = `${name} IN (${numbers.map((number) => `:name${number}`).join(', ')})`;
  const byKey = `FORCE INDEX (\`${keyIndex.replaceAll('`', '``')}\`)`;
  const update = `UPDATE ${table} ${byKey}`;
  const released = (number: number): string =>
    `(:name${number}, ${now}, ${now}, CONCAT(:owner${number}, '${RELEASED_MARK}')${hasToken ? ', 0' : ''})`;
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
    // IGNORE would hide truncation. It decides nothing, so it does not matter which rows it has inserted.
    insertFree: `INSERT INTO ${table} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}${hasToken ? `, ${fencingToken}` : ''})
      VALUES ${numbers.map(released).join(', ')} ON DUPLICATE KEY UPDATE ${name} = ${table}.${name}`,
    // Proxies send a read to the primary if it ends in these words.
    read: `${lockRecords(quoted, shape)} ${byKey} WHERE ${listed} ORDER BY ${name} FOR UPDATE`,
  };
}
