import { InvalidLockConfigurationError } from '../../../core';
import { describeValue } from '../../../core/describe-value';
import { DEFAULT_NAME_LENGTH } from '../../../core/lock-name';

/** One of the library's tables as its migration creates it. */
export interface TableDefinition {
  /** One part, or schema and table: plain identifiers, still unquoted. */
  readonly path: readonly string[];
  /** What one row is, for messages. */
  readonly row: 'lock' | 'run';
  readonly columns: readonly TableColumn[];
  /** A column that is the primary key. Without it, the rows are numbered. */
  readonly primaryKey?: string;
  readonly indexes: readonly TableIndex[];
  /** What to do if the table is missing, as the user has to write it. */
  readonly migration: string;
}

export interface TableColumn {
  /** Its name in entities and in the code: `lockUntil`. */
  readonly property: string;
  readonly name: string;
  readonly kind: ColumnKind;
  readonly nullable: boolean;
  /** What an insert that does not name it leaves there. */
  readonly default?: 0 | '' | undefined;
  /** It tells rows apart: to take one value for another would mix up two locks or two runs. */
  readonly isKey?: boolean;
  /** The characters that it must have room for, if not those of its own length. */
  readonly room?: ColumnRoom;
  readonly tolerates?: readonly ColumnTolerance[];
}

export interface ColumnRoom {
  readonly characters: number;
  readonly because: string;
}

/** What a column is for; each dialect has a type for it. */
export type ColumnKind =
  /** Numbers the rows. */
  | { readonly is: 'id' }
  /** Compared byte for byte. */
  | { readonly is: 'text'; readonly length: number }
  /** The same, of ASCII alone. */
  | { readonly is: 'word'; readonly length: number }
  /** Never compared: of 8 KiB at least, or of 64 KiB, a mark of a cut besides. */
  | { readonly is: 'note' | 'document' }
  | { readonly is: 'count' | 'integer' | 'instant' };

/** In what a column may differ from the migration's, because ShedLock for Java or an older schema made it. */
export type ColumnTolerance =
  /** The table works without it. */
  | 'absence'
  /** It takes different texts for equal. The rows that are found are compared again. */
  | 'folding'
  /** It holds ASCII alone, so its character set does not matter. */
  | 'any-charset'
  /** An instant without a time zone, or in that of the session. Our own sessions are in UTC. */
  | 'any-time-zone'
  /** It changes with any update. Every update writes it anyway. */
  | 'changes';

export interface TableIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique: boolean;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

/**
 * A table's name as parts that may be quoted: one, or schema and table.
 *
 * @throws InvalidLockConfigurationError naming the part that is not an identifier
 */
export function identifierPath(what: string, name: string, schema: string | undefined): readonly string[] {
  const parts = typeof name === 'string' ? name.split('.') : [name];
  const path = schema === undefined ? parts : [schema, ...parts];
  if (path.length > 2) refuseIdentifier(what, path.join('.'), 'a table has one schema at most');
  for (const part of path) checkIdentifier(what, part);
  return path;
}

export function checkIdentifier(what: string, identifier: unknown): void {
  if (typeof identifier === 'string' && IDENTIFIER.test(identifier)) return;
  refuseIdentifier(
    what,
    identifier,
    'an identifier has 1 to 63 letters, digits, _ or $ and does not begin with a digit or $',
  );
}

export function refuseIdentifier(what: string, value: unknown, why: string): never {
  throw new InvalidLockConfigurationError(`${what} is ${describeValue(value)}: ${why}.`);
}

/** @param option what names the table, with the name that it has by default */
export function migrationFor(
  set: 'lock' | 'ledger',
  option: Readonly<Record<'lockTable', string>> | Readonly<Record<'runTable', string>>,
  { path, nameLength }: { readonly path: readonly string[]; readonly nameLength: number },
): string {
  const table = path.join('.');
  const named = Object.entries(option).filter(([, byDefault]) => table !== byDefault);
  const options = [
    `tables: ['${set}']`,
    ...named.map(([name]) => `${name}: '${table}'`),
    ...(nameLength === DEFAULT_NAME_LENGTH ? [] : [`nameLength: ${nameLength}`]),
  ];
  return `run the migration made by createCronlatchMigration({ ${options.join(', ')} })`;
}
