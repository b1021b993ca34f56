import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../../core/lock-name';
import { refuseOption } from '../../../core/options';
import {
  identifierPath,
  migrationFor,
  type ColumnKind,
  type TableColumn,
  type TableDefinition,
} from './table-definition';

export interface RunTableOptions {
  /** Default `cronlatch_run`. May carry its schema before a dot. The table of events is named the same, plus `_event`. */
  readonly runTable?: string | undefined;
  /** The schema (on MySQL the database) that the tables are in. Default: that of the connection. */
  readonly schema?: string | undefined;
  /** The width of the job name column, in characters: the same as in the lock table. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
}

/** Checked tables: every part is a plain identifier, still unquoted. */
export interface RunTables {
  /** One part, or schema and table. */
  readonly run: readonly string[];
  readonly event: readonly string[];
  readonly nameLength: number;
}

export const DEFAULT_RUN_TABLE = 'cronlatch_run';

/** An identifier has at most 63 characters, and the names of the indexes add some. */
const LONGEST_RUN_TABLE = 50;

/** @throws InvalidLockConfigurationError naming the text that is not an identifier */
export function runTablesOf(options: RunTableOptions = {}): RunTables {
  const { runTable = DEFAULT_RUN_TABLE, schema, nameLength = DEFAULT_NAME_LENGTH } = options;
  const run = identifierPath('runTable', runTable, schema);
  const table = run.at(-1) ?? '';
  if (table.length > LONGEST_RUN_TABLE)
    refuseOption('runTable', table, `use at most ${LONGEST_RUN_TABLE} characters`);
  return { run, event: [...run.slice(0, -1), `${table}_event`], nameLength: checkNameLength(nameLength) };
}

/** No two runs have the same values in all of these columns. */
export const RUN_KEY = ['job_name', 'scope', 'period_key'] as const;

const KEY_LENGTH = 64;
const ID = { is: 'id' } as const;
const COUNT = { is: 'count' } as const;
const INTEGER = { is: 'integer' } as const;
export const INSTANT = { is: 'instant' } as const;
export const text = (length: number) => ({ is: 'text', length }) as const;
export const word = (length: number) => ({ is: 'word', length }) as const;

/** The table of the runs, then the table of their events. */
export function runTableDefinitions(tables: RunTables): readonly [TableDefinition, TableDefinition] {
  const { run: path, nameLength } = tables;
  const migration = migrationFor('ledger', { runTable: DEFAULT_RUN_TABLE }, { path, nameLength });
  return [runTable(tables, migration), eventTable(tables, migration)];
}

function runTable({ run, nameLength }: RunTables, migration: string): TableDefinition {
  const table = run.at(-1);
  return {
    path: run,
    row: 'run',
    columns: [
      needed('id', ID),
      { ...needed('job_name', text(nameLength)), isKey: true },
      // NULL would not collide with NULL in the unique index.
      { ...needed('scope', text(KEY_LENGTH), ''), isKey: true },
      { ...needed('period_key', text(KEY_LENGTH)), isKey: true },
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
      optional('result', { is: 'document' }),
      optional('error', { is: 'note' }),
      needed('created_at', INSTANT),
      needed('updated_at', INSTANT),
    ],
    indexes: [
      { name: `uq_${table}`, columns: RUN_KEY, isUnique: true },
      { name: `ix_${table}_due`, columns: ['state', 'next_attempt_at'], isUnique: false },
      { name: `ix_${table}_period`, columns: ['job_name', 'scope', 'period_start'], isUnique: false },
      // For lists of the runs of all jobs. Ledgers of older versions may lack it.
      { name: `ix_${table}_start`, columns: ['period_start'], isUnique: false },
    ],
    migration,
  };
}

/** Rows are only appended. */
function eventTable({ event }: RunTables, migration: string): TableDefinition {
  return {
    path: event,
    row: 'run',
    columns: [
      needed('id', ID),
      needed('run_id', INTEGER),
      needed('at', INSTANT),
      needed('generation', COUNT),
      needed('attempt', COUNT),
      needed('kind', word(20)),
      needed('actor', text(255)),
      optional('fencing_token', INTEGER),
      optional('detail', { is: 'note' }),
    ],
    indexes: [{ name: `ix_${event.at(-1)}`, columns: ['run_id', 'id'], isUnique: false }],
    migration,
  };
}

export function needed(name: string, kind: ColumnKind, defaultValue?: 0 | ''): TableColumn {
  return { property: propertyOf(name), name, kind, nullable: false, default: defaultValue };
}

export function optional(name: string, kind: ColumnKind): TableColumn {
  return { property: propertyOf(name), name, kind, nullable: true };
}

/** `job_name` becomes `jobName`. */
function propertyOf(column: string): string {
  return column.replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
}
