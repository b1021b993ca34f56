import {
  isDeclaration,
  type DeclaredJob,
  type JobRegister,
  type RegisteredJob,
} from '../../../ledger/job-register';
import type { SqlResult } from '../connections/sql-executor';
import { readInstant, readNow, readRequiredInstant, readText } from './run-rows';

type Row = SqlResult['rows'][number];

/** The rows of `JobStatements.list`. Without a job, there is one row without a name. */
export function readJobs(rows: readonly Row[]): JobRegister {
  const read = rows.filter(({ job_name: name }) => name !== null).map(readJob);
  read.sort((a, b) => (a.job < b.job ? -1 : 1));
  return {
    now: readNow(rows[0] ?? {}),
    jobs: read.filter((job): job is RegisteredJob => job.declared !== undefined),
    unreadable: read.filter(({ declared }) => declared === undefined),
  };
}

function readJob(row: Row) {
  const job = String(row['job_name']);
  const subject = `job '${job}' in the register of jobs`;
  const previous = readDeclared(row['previous_declared']);
  return {
    job,
    declared: readDeclared(row['declared']),
    nextScheduledAt: readInstant(row, 'next_scheduled_at', subject),
    version: String(row['version']),
    registeredBy: String(row['registered_by']),
    registeredAt: readRequiredInstant(row, 'registered_at', subject),
    previous:
      previous !== undefined
        ? {
            declared: previous,
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

function readDeclared(text: unknown): DeclaredJob | undefined {
  try {
    const declared: unknown = JSON.parse(String(text));
    return isDeclaration(declared) ? declared : undefined;
  } catch {
    return undefined; // The register lists the job as unreadable.
  }
}
