import { noneAfter, SchemaMismatchError } from '../core';
import type { DeclaredJob, JobRegister, RegisteredJob } from './job-register';
import { checkTimeZone } from './periods/time-zone';
import { parseJobPolicy, type JobPolicy } from './policy/job-policy';
import { limitOf, type LedgerContext } from './store-statements';

/**
 * The register, with one statement. A job whose periods this version does not know counts as unreadable.
 *
 * @returns `undefined` if the database has no register of jobs
 */
export async function readKnownRegister(context: LedgerContext): Promise<JobRegister | undefined> {
  const register = await context.store.jobs(limitOf(context)).catch(noneAfter(SchemaMismatchError));
  if (register === undefined) return undefined;
  const { now, jobs, unreadable = [] } = register;
  const unread = jobs.filter((job) => !isReadable(job));
  return { now, jobs: jobs.filter(isReadable), unreadable: [...unreadable, ...unread] };
}

/** A newer version can declare periods that this one does not know. */
function isReadable(job: RegisteredJob): boolean {
  try {
    declaredPolicy(job);
    return unknownZoneOf(job.declared) === undefined;
  } catch {
    return false;
  }
}

/** The time zone of a job if this machine does not know it: its data can be older than the zone. */
export function unknownZoneOf(declared: DeclaredJob | undefined): string | undefined {
  const zone = zoneOf(declared);
  try {
    checkTimeZone(zone ?? 'UTC');
    return undefined;
  } catch {
    return zone;
  }
}

/** What an instance declared, without its calendar. `undefined` for a job without periods, and for a key function. */
export function declaredPolicy(registered: Pick<RegisteredJob, 'job' | 'declared'>): JobPolicy | undefined {
  const { job, declared } = registered;
  const { kind, timeZone, dayStart, target, scope = '' } = declared;
  if (kind === 'lock' || kind === 'custom') return undefined;
  const defaults = parseJobPolicy({ period: kind, timeZone, dayStart, target }, job);
  const { retry = defaults.retry, onCrash = defaults.onCrash, catchUp = defaults.catchUp } = declared;
  return { ...defaults, retry, onCrash, catchUp, startDeadlineMs: declared.startDeadlineMs, scope };
}

export function zoneOf(declared: DeclaredJob | undefined): string | undefined {
  return declared?.timeZone ?? declared?.schedules.find((each) => 'expression' in each)?.timeZone;
}
