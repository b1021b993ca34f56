import { refuseOption } from '../../../core/options';
import { DEFAULT_NAME_LENGTH } from '../../../core/lock-name';

/** One of the library's tables as its migration creates it. */
export interface TableDefinition {
  /** One part, or schema and table: plain identifiers, still unquoted. */
  readonly path: readonly string[];
  /** What a row stands for, used in messages. */
  readonly row: 'lock' | 'run' | 'job';
  readonly columns: readonly TableColumn[];
  /** The column that is the primary key. Without one, an id numbers the rows. */
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
  /** The value of an insert that leaves the column out. */
  readonly default?: 0 | '' | undefined;
  /** It identifies rows, so two different values must never compare as equal. */
  readonly isKey?: boolean;
  /** The characters that it must have room for, if not its own length. */
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
  /** The same, but ASCII only. */
  | { readonly is: 'word'; readonly length: number }
  /** Never compared. It holds at least 8 KiB or 64 KiB, and the mark of a cut besides. */
  | { readonly is: 'note' | 'document' }
  | { readonly is: 'count' | 'integer' | 'instant' };

/** How a column may differ from the migration's, because ShedLock for Java or an older schema created it. */
export type ColumnTolerance =
  /** The table works without it. */
  | 'absence'
  /** It compares different texts as equal. cronlatch compares the rows that it finds again. */
  | 'folding'
  /** It holds only ASCII, so its character set does not matter. */
  | 'any-charset'
  /** An instant without a time zone, or in that of the session: our own sessions are in UTC. */
  | 'any-time-zone'
  /** It changes with every update. Every update writes it anyway. */
  | 'changes';

export interface TableIndex {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique: boolean;
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

/**
 * Splits a table's name into parts that can be quoted: the table, or schema and table.
 *
 * @throws InvalidLockConfigurationError naming the part that is not an identifier
 */
export function identifierPath(what: string, name: string, schema: string | undefined): readonly string[] {
  const parts = typeof name === 'string' ? name.split('.') : [name];
  const path = schema === undefined ? parts : [schema, ...parts];
  if (path.length > 2) refuseOption(what, path.join('.'), 'use at most one schema and one dot');
  for (const part of path) checkIdentifier(what, part);
  return path;
}

export function checkIdentifier(what: string, identifier: unknown): void {
  if (typeof identifier === 'string' && IDENTIFIER.test(identifier)) return;
  refuseOption(
    what,
    identifier,
    'an identifier has 1 to 63 letters, digits, _ or $, and starts with a letter or _',
  );
}

/** @param option the option that names the table, with its default */
export function migrationFor(
  set: 'lock' | 'ledger' | 'jobs' | 'row-lock',
  option: Readonly<Partial<Record<'lockTable' | 'runTable' | 'jobTable' | 'rowLockTable', string>>>,
  { path, nameLength }: { readonly path: readonly string[]; readonly nameLength: number },
): string {
  const table = path.join('.');
  const named = Object.entries(option).filter(([, byDefault]) => table !== byDefault);
  const options = [
    `tables: ['${set}']`,
    ...named.map(([name]) => `${name}: '${table}'`),
    ...(nameLength === DEFAULT_NAME_LENGTH ? [] : [`nameLength: ${nameLength}`]),
  ];
  const same = `{ ${options.join(', ')} }`;
  return `Create it with createTables(source, ${same}), npx cronlatch init, or the TypeORM migration createCronlatchMigration(${same})`;
}
