import { LockStorageError } from '../../../core';
import type { DeclaredJob, JobRegister, RegisteredJob } from '../../../ledger/job-register';
import type { SqlResult } from '../connections/sql-executor';
import { readInstant, readNow, readRequiredInstant, readText } from './run-rows';

type Row = SqlResult['rows'][number];

/** The rows of `JobStatements.list`. Without a job, there is one row without a name. */
export function readJobs(rows: readonly Row[]): JobRegister {
  const jobs = rows.filter(({ job_name: name }) => name !== null).map(readJob);
  return { now: readNow(rows[0] ?? {}), jobs: jobs.sort((a, b) => (a.job < b.job ? -1 : 1)) };
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
