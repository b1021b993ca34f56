import { checkNameLength, DEFAULT_NAME_LENGTH } from '../../../core/lock-name';
import { INSTANT, needed, optional, text, word } from './run-tables';
import { identifierPath, migrationFor, type TableDefinition } from './table-definition';

export interface JobTableOptions {
  /** The table of the register of jobs. Default `cronlatch_job`. May carry its schema before a dot. */
  readonly jobTable?: string | undefined;
  /** The schema (on MySQL the database) that the table is in. Default: that of the connection. */
  readonly schema?: string | undefined;
  /** The width of the job name column, in characters: the same as in the lock table. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
}

/** A checked table: every part is a plain identifier, still unquoted. */
export interface JobTable {
  /** One part, or schema and table. */
  readonly path: readonly string[];
  readonly nameLength: number;
}

export const DEFAULT_JOB_TABLE = 'cronlatch_job';

/** @throws InvalidLockConfigurationError naming the text that is not an identifier */
export function jobTableOf(options: JobTableOptions = {}): JobTable {
  const { jobTable = DEFAULT_JOB_TABLE, schema, nameLength = DEFAULT_NAME_LENGTH } = options;
  return { path: identifierPath('jobTable', jobTable, schema), nameLength: checkNameLength(nameLength) };
}

/** The register of jobs: one row per job. */
export function jobTableDefinition(table: JobTable): TableDefinition {
  const { path, nameLength } = table;
  return {
    path,
    row: 'job',
    columns: [
      { ...needed('job_name', text(nameLength)), isKey: true },
      needed('declared', { is: 'note' }),
      needed('schedule', { is: 'note' }),
      optional('next_scheduled_at', INSTANT),
      needed('version', text(64)),
      needed('registered_by', text(255)),
      needed('registered_at', INSTANT),
      optional('previous_declared', { is: 'note' }),
      optional('previous_registered_by', text(255)),
      optional('previous_registered_at', INSTANT),
      optional('last_started_at', INSTANT),
      optional('last_finished_at', INSTANT),
      optional('last_outcome', word(12)),
      optional('last_holder', text(255)),
    ],
    primaryKey: 'job_name',
    indexes: [],
    migration: migrationFor('jobs', { jobTable: DEFAULT_JOB_TABLE }, table),
  };
}
