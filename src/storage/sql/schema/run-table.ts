import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../../core/lock-name';
import { identifierPath, refuseIdentifier } from './identifier';

export interface RunTableOptions {
  /** Default `cronlatch_run`; its events are in a table of that name with `_event` behind. May carry its schema before a dot. */
  readonly runTable?: string | undefined;
  /** The schema (on MySQL the database) that the tables are in. Default: that of the connection. */
  readonly schema?: string | undefined;
  /** The width of the column of the job's name, in characters: that of the lock table's name. Default 64, at most 255. */
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

/** What names of indexes put around it must fit into the 63 characters of an identifier. */
const LONGEST_RUN_TABLE = 50;

/** @throws InvalidLockConfigurationError naming the identifier that cannot be one */
export function runTablesOf(options: RunTableOptions = {}): RunTables {
  const { runTable = DEFAULT_RUN_TABLE, schema, nameLength = DEFAULT_NAME_LENGTH } = options;
  const run = identifierPath('runTable', runTable, schema);
  const table = run.at(-1) ?? '';
  if (table.length > LONGEST_RUN_TABLE)
    refuseIdentifier('runTable', table, `it has at most ${LONGEST_RUN_TABLE} characters`);
  return { run, event: [...run.slice(0, -1), `${table}_event`], nameLength: checkNameLength(nameLength) };
}
