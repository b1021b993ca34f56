import { LONGEST_OWNER } from '../../../core/lease/owner';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../../core/lock-name';
import { refuseOption } from '../../../core/options';
import { checkIdentifier, identifierPath, migrationFor, type TableDefinition } from './table-definition';

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

const SHEDLOCK_COLUMNS: LockColumns = {
  name: 'name',
  lockUntil: 'lock_until',
  lockedAt: 'locked_at',
  lockedBy: 'locked_by',
  fencingToken: 'fencing_token',
};

/** @throws InvalidLockConfigurationError naming the text that is not an identifier */
export function lockTableOf(options: LockTableOptions = {}): LockTable {
  const { lockTable = DEFAULT_LOCK_TABLE, schema, columns, nameLength = DEFAULT_NAME_LENGTH } = options;
  const path = identifierPath('lockTable', lockTable, schema);
  const named = { ...SHEDLOCK_COLUMNS, ...columns };
  for (const [key, column] of Object.entries(named)) checkIdentifier(`columns.${key}`, column);
  if (new Set(Object.values(named)).size < Object.keys(named).length)
    refuseOption('columns', Object.values(named).join(', '), 'each column needs a different name');
  return { path, columns: named, nameLength: checkNameLength(nameLength) };
}

export interface RowLockTableOptions extends Pick<LockTableOptions, 'schema' | 'nameLength'> {
  /** The table of row locks. Default `cronlatch_row_lock`. May carry its schema before a dot. */
  readonly rowLockTable?: string | undefined;
}

export const DEFAULT_ROW_LOCK_TABLE = 'cronlatch_row_lock';

/** @throws InvalidLockConfigurationError naming the text that is not an identifier */
export function rowLockTableOf(options: RowLockTableOptions = {}): LockTable {
  const { rowLockTable = DEFAULT_ROW_LOCK_TABLE, schema, nameLength = DEFAULT_NAME_LENGTH } = options;
  const path = identifierPath('rowLockTable', rowLockTable, schema);
  return { path, columns: SHEDLOCK_COLUMNS, nameLength: checkNameLength(nameLength) };
}

/** The columns of a lock table, exactly as the migration creates them. */
export function rowLockTableDefinition(table: LockTable): TableDefinition {
  const definition = lockTableDefinition(table);
  return {
    ...definition,
    columns: definition.columns.map((column) => ({ ...column, tolerates: [] })),
    migration: migrationFor('row-lock', { rowLockTable: DEFAULT_ROW_LOCK_TABLE }, table),
  };
}

/** The columns may differ as in a table that ShedLock for Java created. */
export function lockTableDefinition(table: LockTable): TableDefinition {
  const { path, nameLength } = table;
  const migration = migrationFor('lock', { lockTable: DEFAULT_LOCK_TABLE }, table);
  const column = <Property extends keyof LockColumns>(property: Property) => ({
    property,
    name: table.columns[property],
    nullable: false,
  });
  return {
    path,
    row: 'lock',
    columns: [
      {
        ...column('name'),
        kind: { is: 'text', length: nameLength },
        isKey: true,
        room: {
          characters: nameLength,
          because: `nameLength is ${nameLength}. Lower nameLength, or widen the column`,
        },
        tolerates: ['folding'],
      },
      { ...column('lockUntil'), kind: { is: 'instant' }, tolerates: ['any-time-zone', 'changes'] },
      { ...column('lockedAt'), kind: { is: 'instant' }, tolerates: ['any-time-zone'] },
      {
        ...column('lockedBy'),
        kind: { is: 'text', length: 255 },
        room: { characters: LONGEST_OWNER, because: `an owner has up to ${LONGEST_OWNER}. Widen the column` },
        tolerates: ['any-charset'],
      },
      { ...column('fencingToken'), kind: { is: 'integer' }, default: 0, tolerates: ['absence'] },
    ],
    primaryKey: table.columns.name,
    indexes: [],
    migration: `${migration}, or as docs/lock-table.md shows`,
  };
}
