import { LockStorageError, type StatementOptions } from '../../../core';
import type {
  DeclaredJob,
  JobChange,
  JobRegister,
  JobRegistration,
  RegisteredJob,
} from '../../../ledger/job-register';
import type { SqlResult, SqlStatement } from '../connections/sql-executor';
import { jobTableDefinition, type JobTable } from '../schema/job-table';
import { VerifiedTables, type SqlTablesOptions } from '../schema/verified-tables';
import { jobStatementsFor, type JobStatements } from './job-statements';
import { readInstant, readNow, readRequiredInstant, readText } from './run-rows';

type Row = SqlResult['rows'][number];

/** Keeps the register of jobs in one SQL table. The ledger works without that table. */
export class SqlJobRegister {
  readonly #tables: VerifiedTables<JobStatements>;

  constructor(options: SqlTablesOptions & { readonly jobTable: JobTable }) {
    const definition = jobTableDefinition(options.jobTable);
    this.#tables = new VerifiedTables(options, [definition], ([found]) => jobStatementsFor(found, options));
  }

  async register(jobs: readonly JobRegistration[], options: StatementOptions): Promise<void> {
    if (jobs.length > 0) await this.#execute((of) => of.register(jobs), options);
  }

  async list(options: StatementOptions): Promise<JobRegister> {
    const { rows } = await this.#execute((of) => of.list(), options);
    const jobs = rows.filter(({ job_name: name }) => name !== null).map(readJob);
    return { now: readNow(rows[0] ?? {}), jobs: jobs.sort((a, b) => (a.job < b.job ? -1 : 1)) };
  }

  async update(changes: readonly JobChange[], options: StatementOptions): Promise<void> {
    if (changes.length > 0) await this.#execute((of) => of.update(changes), options);
  }

  async #execute(
    statement: (of: JobStatements) => SqlStatement,
    { timeoutMs }: StatementOptions,
  ): Promise<SqlResult> {
    const options = { timeoutMs, urgent: false };
    const statements = this.#tables.verified ?? (await this.#tables.statements(options));
    return await this.#tables.execute(statement(statements), options, 'the register of jobs');
  }
}

function readJob(row: Row): RegisteredJob {
  const job = String(row['job_name']);
  const subject = `job '${job}' in the register of jobs`;
  const previous = row['previous_declared'];
  return {
    job,
    declared: readDeclared(row['declared'], subject),
    nextScheduledAt: readInstant(row, 'next_scheduled_at', subject),
    version: String(row['version']),
    registeredBy: String(row['registered_by']),
    registeredAt: readRequiredInstant(row, 'registered_at', subject),
    previous:
      typeof previous === 'string'
        ? {
            declared: readDeclared(previous, subject),
            registeredBy: String(row['previous_registered_by']),
            registeredAt: readRequiredInstant(row, 'previous_registered_at', subject),
          }
        : undefined,
    lastStartedAt: readInstant(row, 'last_started_at', subject),
    lastFinishedAt: readInstant(row, 'last_finished_at', subject),
    lastOutcome: readText(row['last_outcome']) as RegisteredJob['lastOutcome'],
    lastHolder: readText(row['last_holder']),
  };
}

function readDeclared(text: unknown, subject: string): DeclaredJob {
  try {
    return JSON.parse(String(text)) as DeclaredJob;
  } catch (cause) {
    throw new LockStorageError(`Could not read ${subject}: its declaration is not JSON. Delete its row.`, {
      cause,
    });
  }
}
