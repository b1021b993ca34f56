import { InvalidLockConfigurationError } from '../../core';
import { describeValue } from '../../core/describe-value';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../core/lock-name';

export interface LockColumns {
  readonly name: string;
  readonly lockUntil: string;
  readonly lockedAt: string;
  readonly lockedBy: string;
  readonly fencingToken: string;
}

export interface LockTableOptions {
  /** Default `shedlock`. May carry its schema before a dot. */
  readonly lockTable?: string | undefined;
  /** The schema (on MySQL the database) that the table is in. Default: that of the connection. */
  readonly schema?: string | undefined;
  /** Column names that differ from ShedLock's. */
  readonly columns?: Partial<LockColumns> | undefined;
  /** The width of the name column, in characters. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
}

/** A checked table: every part is a plain identifier, still unquoted. */
export interface LockTable {
  /** One part, or schema and table. */
  readonly path: readonly string[];
  readonly columns: LockColumns;
  readonly nameLength: number;
}

export const DEFAULT_LOCK_TABLE = 'shedlock';

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

const SHEDLOCK_COLUMNS: LockColumns = {
  name: 'name',
  lockUntil: 'lock_until',
  lockedAt: 'locked_at',
  lockedBy: 'locked_by',
  fencingToken: 'fencing_token',
};

/** @throws InvalidLockConfigurationError naming the identifier that cannot be one */
export function lockTableOf(options: LockTableOptions = {}): LockTable {
  const { lockTable = DEFAULT_LOCK_TABLE, schema, columns, nameLength = DEFAULT_NAME_LENGTH } = options;
  const parts = lockTable.split('.');
  const path = schema === undefined ? parts : [schema, ...parts];
  if (path.length > 2) refuse('lockTable', path.join('.'), 'a table has one schema at most');
  for (const part of path) checkIdentifier('lockTable', part);
  const named = { ...SHEDLOCK_COLUMNS, ...columns };
  for (const [key, column] of Object.entries(named)) checkIdentifier(`columns.${key}`, column);
  if (new Set(Object.values(named)).size < Object.keys(named).length)
    refuse('columns', Object.values(named).join(', '), 'each must be another');
  return { path, columns: named, nameLength: checkNameLength(nameLength) };
}

function checkIdentifier(what: string, identifier: unknown): void {
  if (typeof identifier === 'string' && IDENTIFIER.test(identifier)) return;
  refuse(
    what,
    identifier,
    'an identifier has 1 to 63 letters, digits, _ or $ and does not begin with a digit or $',
  );
}

function refuse(what: string, value: unknown, why: string): never {
  throw new InvalidLockConfigurationError(`${what} is ${describeValue(value)}: ${why}.`);
}
