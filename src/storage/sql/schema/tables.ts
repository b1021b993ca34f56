import type { LockColumns, LockTableOptions, TableNames } from './table-options';
import { LONGEST_OWNER } from '../../../core/lease/owner';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../../core/lock-name';
import { refuseOption } from '../../../core/options';
import type { ColumnKind, TableColumn, TableDefinition, TableIndex } from './table-definition';

/** The schema and the names of tables that the application does not name. */
export interface DefaultSchema extends Pick<LockTableOptions, 'schema'> {
  /** Whether the address names that schema, so that the option `schema` must not name another one. */
  readonly isSchemaOfAddress?: boolean;
  /** The names of tables that the application has as entities, without their schema. */
  readonly tableNames?: { readonly [Kind in TableKind]?: string } | undefined;
  readonly isInMemory?: boolean;
}

const ID = { is: 'id' } as const;
// Longer texts are cut, and the mark of the cut also needs room.
const NOTE = { is: 'note', length: 8 * 1024 + 256 } as const;
const DOCUMENT = { is: 'document', length: 64 * 1024 + 256 } as const;
const COUNT = { is: 'count' } as const;
const INTEGER = { is: 'integer' } as const;
const INSTANT = { is: 'instant' } as const;
const text = (length: number) => ({ is: 'text', length }) as const;
const word = (length: number) => ({ is: 'word', length }) as const;

function needed(name: string, kind: ColumnKind, defaultValue?: 0 | ''): TableColumn {
  return { property: propertyOf(name), name, kind, nullable: false, default: defaultValue };
}

function optional(name: string, kind: ColumnKind): TableColumn {
  return { property: propertyOf(name), name, kind, nullable: true };
}

/** `job_name` becomes `jobName`. */
function propertyOf(column: string): string {
  return column.replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
}

/** ShedLock's columns, and the token. They may differ as in a table that ShedLock for Java created. */
const lockColumns = (nameLength: number): readonly TableColumn[] => [
  {
    ...needed('name', text(nameLength)),
    isKey: true,
    room: {
      characters: nameLength,
      because: `nameLength is ${nameLength}. Lower nameLength, or widen the column`,
    },
    tolerates: ['folding'],
  },
  { ...needed('lock_until', INSTANT), tolerates: ['any-time-zone', 'changes'] },
  { ...needed('locked_at', INSTANT), tolerates: ['any-time-zone'] },
  {
    ...needed('locked_by', text(255)),
    room: { characters: LONGEST_OWNER, because: `an owner has up to ${LONGEST_OWNER}. Widen the column` },
    tolerates: ['any-charset'],
  },
  { ...needed('fencing_token', INTEGER, 0), tolerates: ['absence'] },
];

/** No two runs have the same values in all of these columns. */
export const RUN_KEY = ['job_name', 'scope', 'period_key'] as const;

const runColumns = (nameLength: number): readonly TableColumn[] => [
  needed('id', ID),
  { ...needed('job_name', text(nameLength)), isKey: true },
  // NULL would not collide with NULL in the unique index.
  { ...needed('scope', text(64), ''), isKey: true },
  { ...needed('period_key', text(64)), isKey: true },
  optional('period_start', INSTANT),
  optional('period_end', INSTANT),
  optional('time_zone', word(64)),
  needed('state', word(12)),
  needed('generation', COUNT, 0),
  needed('attempt', COUNT, 0),
  optional('next_attempt_at', INSTANT),
  optional('claimed_by', text(255)),
  optional('lock_id', text(128)),
  optional('fencing_token', INTEGER),
  optional('lease_until', INSTANT),
  optional('first_started_at', INSTANT),
  optional('started_at', INSTANT),
  optional('finished_at', INSTANT),
  optional('reason', text(32)),
  optional('result', DOCUMENT),
  optional('error', NOTE),
  needed('created_at', INSTANT),
  needed('updated_at', INSTANT),
];

const runIndexes = (table: string): readonly TableIndex[] => [
  { name: `uq_${table}`, columns: RUN_KEY, isUnique: true },
  { name: `ix_${table}_due`, columns: ['state', 'next_attempt_at'], isUnique: false },
  { name: `ix_${table}_period`, columns: ['job_name', 'scope', 'period_start'], isUnique: false },
  // For lists of the runs of all jobs. Ledgers of older versions may lack it.
  { name: `ix_${table}_start`, columns: ['period_start'], isUnique: false },
];

const eventColumns = (): readonly TableColumn[] => [
  needed('id', ID),
  needed('run_id', INTEGER),
  needed('at', INSTANT),
  needed('generation', COUNT),
  needed('attempt', COUNT),
  needed('kind', word(20)),
  needed('actor', text(255)),
  optional('fencing_token', INTEGER),
  optional('detail', NOTE),
];

const eventIndexes = (table: string): readonly TableIndex[] => [
  { name: `ix_${table}`, columns: ['run_id', 'id'], isUnique: false },
];

const jobColumns = (nameLength: number): readonly TableColumn[] => [
  { ...needed('job_name', text(nameLength)), isKey: true },
  needed('declared', NOTE),
  needed('schedule', NOTE),
  optional('declared_at', INSTANT),
  optional('answered_at', INSTANT),
  needed('version', text(64)),
  needed('registered_by', text(255)),
  needed('registered_at', INSTANT),
];

/** What operators did or asked for. Notices that wait to be sent have the same columns. */
const actColumns = (nameLength: number): readonly TableColumn[] => [
  { ...needed('id', text(64)), isKey: true },
  needed('at', INSTANT),
  needed('actor', text(255)),
  needed('verb', word(12)),
  { ...optional('job_name', text(nameLength)), isKey: true },
  needed('scope', text(64), ''),
  optional('period_key', text(64)),
  { ...optional('lock_name', text(nameLength)), isKey: true },
  needed('reason', NOTE),
  optional('detail', NOTE),
  needed('state', word(12)),
  // NULL does not collide with NULL in the unique index: a row has it until it has ended.
  { ...optional('open_key', text(64)), isKey: true },
  needed('due_at', INSTANT),
  needed('expires_at', INSTANT),
  optional('taken_by', text(255)),
  optional('lease_until', INSTANT),
  needed('tries', COUNT, 0),
  optional('ended_at', INSTANT),
  optional('outcome', NOTE),
];

const actIndexes = (table: string): readonly TableIndex[] => [
  { name: `uq_${table}`, columns: ['open_key'], isUnique: true },
  { name: `ix_${table}_at`, columns: ['at'], isUnique: false },
];

const logColumns = (): readonly TableColumn[] => [
  needed('id', ID),
  needed('run_id', INTEGER),
  needed('generation', COUNT),
  needed('attempt', COUNT),
  needed('at', INSTANT),
  needed('lines', DOCUMENT),
  optional('done', INTEGER),
  optional('total', INTEGER),
];

export type RunTables = Readonly<Record<'run' | 'event', TableDefinition>>;

interface Table {
  readonly set: TableSet;
  readonly option: 'lockTable' | 'rowLockTable' | 'runTable' | 'jobTable';
  readonly defaultName: string;
  readonly suffix?: string;
  /** The most characters of the name: an identifier has at most 63, and the names of the indexes add some. */
  readonly longest?: number;
  readonly row: TableDefinition['row'];
  /** If the first one is not an id, it is the primary key. */
  readonly columns: (nameLength: number, names: TableNames) => readonly TableColumn[];
  readonly indexes?: (table: string) => readonly TableIndex[];
}

type TableKind = 'lock' | 'rowLock' | 'run' | 'event' | 'job' | 'act' | 'notice' | 'log';

const LEDGER = { set: 'ledger', option: 'runTable', defaultName: 'cronlatch_run', longest: 50 } as const;
const OPERATIONS = { ...LEDGER, set: 'operations' } as const;

/** In the order in which they must be created. */
const TABLES: Readonly<Record<TableKind, Table>> = {
  lock: {
    set: 'lock',
    option: 'lockTable',
    defaultName: 'shedlock',
    row: 'lock',
    columns: (nameLength, { columns }) => renamed(lockColumns(nameLength), columns),
  },
  rowLock: {
    set: 'row-lock',
    option: 'rowLockTable',
    defaultName: 'cronlatch_row_lock',
    row: 'lock',
    columns: (nameLength) => lockColumns(nameLength).map((column) => ({ ...column, tolerates: [] })),
  },
  run: { ...LEDGER, row: 'run', columns: runColumns, indexes: runIndexes },
  event: { ...LEDGER, suffix: '_event', row: 'run', columns: eventColumns, indexes: eventIndexes },
  job: { set: 'jobs', option: 'jobTable', defaultName: 'cronlatch_job', row: 'job', columns: jobColumns },
  act: { ...OPERATIONS, suffix: '_act', row: 'act', columns: actColumns, indexes: actIndexes },
  notice: { ...OPERATIONS, suffix: '_notice', row: 'act', columns: actColumns, indexes: actIndexes },
  log: { ...OPERATIONS, suffix: '_log', row: 'run', columns: logColumns, indexes: eventIndexes },
};

/** Tables that are created together. */
export type TableSet = 'lock' | 'row-lock' | 'ledger' | 'jobs' | 'operations';

/** What an application needs unless it names its sets. */
export const DEFAULT_SETS: readonly TableSet[] = ['lock', 'ledger', 'jobs', 'operations'];

export function isTableSet(set: unknown): set is TableSet {
  return Object.values(TABLES).some((table) => table.set === set);
}

/** The tables of these sets as `tableOf` defines them, in the order in which they must be created. */
export function tablesOf(
  sets: readonly TableSet[],
  names?: TableNames,
  database?: DefaultSchema,
): readonly TableDefinition[] {
  const kinds = Object.keys(TABLES) as TableKind[];
  return kinds
    .filter((kind) => sets.includes(TABLES[kind].set))
    .map((kind) => tableOf(kind, names, database));
}

/** @throws InvalidLockConfigurationError naming the text that is not an identifier */
export function tableOf(
  kind: TableKind,
  names: TableNames = {},
  database: DefaultSchema = {},
): TableDefinition {
  const { option, longest = Infinity, row, ...of } = TABLES[kind];
  const ofEntity = names[option] === undefined ? database.tableNames?.[kind] : undefined;
  const { defaultName, suffix = '' } = ofEntity === undefined ? of : { defaultName: ofEntity };
  const { [option]: named = defaultName, nameLength = DEFAULT_NAME_LENGTH } = names;
  const parts = typeof named === 'string' ? named.split('.') : [named];
  if (database.isSchemaOfAddress) refuseOtherSchema(names.schema, database.schema);
  const { schema = parts.length > 1 ? undefined : database.schema } = names;
  const path = schema === undefined ? parts : [schema, ...parts];
  if (path.length > 2) refuseOption(option, path.join('.'), 'use at most one schema and one dot');
  for (const part of path) checkIdentifier(part === schema ? 'schema' : option, part);
  const name = path.at(-1) ?? '';
  if (name.length > longest) refuseOption(option, name, `use at most ${longest} characters`);
  const columns = of.columns(nameLength, names);
  const [first] = columns;
  return {
    path: [...path.slice(0, -1), name + suffix],
    row,
    columns,
    primaryKey: first?.kind.is === 'id' ? undefined : first?.name,
    indexes: of.indexes?.(name + suffix) ?? [],
    remedy: remedyOf(TABLES[kind], path.join('.'), checkNameLength(nameLength), database),
  };
}

/** @throws InvalidLockConfigurationError naming both. Otherwise two environments in one database could share rows. */
export function refuseOtherSchema(schema: string | undefined, ofAddress: string | undefined): void {
  if (schema === undefined || ofAddress === undefined || schema === ofAddress) return;
  const fix = `Remove one of them, or put a schema before the name of each table, as in 'jobs.shedlock'`;
  refuseOption('schema', schema, `the address of the database names the schema '${ofAddress}'. ${fix}`);
}

/** How to create the table, as the user has to write it. The command neither reaches a database in memory nor widens names. */
function remedyOf(
  { set, option, defaultName }: Table,
  table: string,
  nameLength: number,
  { isInMemory = false }: DefaultSchema,
): string {
  const isRenamed = table !== defaultName;
  if (nameLength === DEFAULT_NAME_LENGTH && !isInMemory) {
    const flag = `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    const only = set === 'row-lock' ? ' --tables row-lock' : '';
    return `Create it with npx cronlatch init${only}${isRenamed ? ` ${flag} ${table}` : ''}`;
  }
  const options = [
    `tables: ['${set}']`,
    ...(isRenamed ? [`${option}: '${table}'`] : []),
    ...(nameLength === DEFAULT_NAME_LENGTH ? [] : [`nameLength: ${nameLength}`]),
  ];
  return `Create it with createTables(source, { ${options.join(', ')} })`;
}

/** @throws InvalidLockConfigurationError naming the text that is not an identifier, or all names if two are the same */
function renamed(
  columns: readonly TableColumn[],
  names: Partial<LockColumns> | undefined,
): readonly TableColumn[] {
  const byDefault = columns.map(({ property, name }) => [property, name] as const);
  const all: Readonly<Record<string, string>> = { ...Object.fromEntries(byDefault), ...names };
  for (const [key, name] of Object.entries(all)) checkIdentifier(`columns.${key}`, name);
  if (new Set(Object.values(all)).size < Object.keys(all).length)
    refuseOption('columns', Object.values(all).join(', '), 'each column needs a different name');
  return columns.map((column) => ({ ...column, name: all[column.property] ?? column.name }));
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_$]{0,62}$/;

function checkIdentifier(what: string, identifier: unknown): void {
  if (typeof identifier === 'string' && IDENTIFIER.test(identifier)) return;
  refuseOption(
    what,
    identifier,
    'an identifier has 1 to 63 letters, digits, _ or $, and starts with a letter or _',
  );
}
