import { RELEASED_MARK } from '../../../../core/lease/owner';
import { PLACE_NAME } from '../../../../core/lock-name';
import type { NamedStatement } from '../../statements/statement';
import type { GroupStatements, LockTableShape, LockTexts, QuotedLockTable } from '../sql-dialect';

const SINCE_1970 = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01'`;
const TOKEN_SEED = `${SINCE_1970}, UTC_TIMESTAMP(6))`;

function lockRecords(
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

function textsFor(size: number, quoted: QuotedLockTable, shape: LockTableShape) {
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
