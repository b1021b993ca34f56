import { noneAfter, SchemaMismatchError } from '../core';
import type { PeriodKind } from './periods/period';
import type { DeclaredSchedule } from './periods/schedule';
import { checkTimeZone } from './periods/time-zone';
import type { CatchUpPolicy } from './policy/catch-up';
import { parseJobPolicy, type JobPolicy } from './policy/job-policy';
import type { RetryPolicy } from './policy/retry';

/** What the code of one instance declares about a job, as plain JSON. Durations are in milliseconds. */
export interface DeclaredJob {
  /** The name of its lock, or the label of a name function. */
  readonly lock: string;
  /** The names of its locks depend on its arguments. Without that, `undefined`, as older versions declare it. */
  readonly hasNameFunction?: true | undefined;
  readonly lockAtMostForMs: number;
  readonly lockAtLeastForMs: number;
  /** How often the holder renews its lease. `undefined`: never. */
  readonly renewEveryMs?: number | undefined;
  /** With renewals: when the lease ends at the latest, after it was granted. */
  readonly maxLockDurationMs?: number | undefined;
  /** `'lock'`: the job has only a lock. `'custom'`: a key function decides the period, and only code knows it. */
  readonly kind: 'lock' | PeriodKind | 'custom';
  readonly timeZone?: string | undefined;
  readonly dayStart?: string | undefined;
  readonly target?: 'current' | 'previous' | undefined;
  /** Their time zones are resolved. Empty for a job of which only its callers know when it is due. */
  readonly schedules: readonly DeclaredSchedule[];
  readonly retry?: RetryPolicy | undefined;
  readonly onCrash?: 'retry' | 'hold' | undefined;
  readonly catchUp?: CatchUpPolicy | undefined;
  readonly startDeadlineMs?: number | undefined;
  /** The job has a calendar of its own. Only code knows its dates. */
  readonly hasCalendar: boolean;
  /** `undefined`: none, or a function. */
  readonly scope?: string | undefined;
  readonly hasScopeFunction: boolean;
  /** What keeps all known instances from running it: its option `enabled`, or that of their guards. Never a function of the job. */
  readonly disabled?: 'job' | 'guard' | undefined;
}

/** A job as an instance registers it. */
export interface JobRegistration {
  /** The name of the once-per job, or else the name of the lock. */
  readonly job: string;
  readonly declared: DeclaredJob;
  readonly version: string;
  /** The host and the process: `host/pid`. */
  readonly registeredBy: string;
}

/** How often an instance registers its jobs again, at a check for overdue runs. */
export const REGISTER_EVERY_MS = 120_000;
/** No instance declares a job that was not registered for so long. */
export const IDLE_AFTER_MS = 900_000;

/** All instants but `answeredAt` are the database's. */
export interface RegisteredJob extends JobRegistration {
  /** Since when its schedules and periods are the same. `undefined`: only an older version has registered it. */
  readonly declaredAt: Date | undefined;
  /** The newest scheduled time that an instance has answered, or the newest call without one. */
  readonly answeredAt: Date | undefined;
  /** When an instance last registered it. Instances do so every 2 minutes, at a check for overdue runs. */
  readonly registeredAt: Date;
}

export interface JobRegister {
  /** The current time of the store, not of this host. */
  readonly now: Date;
  /** In the order of their names. */
  readonly jobs: readonly RegisteredJob[];
  /** The jobs whose declaration this version cannot read: a newer version wrote it, or it is damaged. */
  readonly unreadable?: readonly UnreadableJob[] | undefined;
}

/** With its declaration if this version can read it, but not its periods or its time zone. */
export interface UnreadableJob extends Pick<RegisteredJob, 'job' | 'version' | 'registeredBy'> {
  readonly declared?: DeclaredJob | undefined;
}

export interface JobAnswer {
  readonly job: string;
  readonly answeredAt: Date;
}

/** The options that two declarations of a job have otherwise, with both values as JSON. */
export function differencesOf(before: DeclaredJob, now: DeclaredJob) {
  const textOf = (value: unknown): string | undefined => JSON.stringify(value);
  const options = Object.keys({ ...before, ...now }) as (keyof DeclaredJob)[];
  return options
    .map((option) => ({ option, before: textOf(before[option]), now: textOf(now[option]) }))
    .filter((difference) => difference.before !== difference.now);
}

/**
 * What decides when the job is due, as a text that is compared. When it changes, times before that no longer count. A disabled
 * guard only puts them off.
 */
export function scheduleText({ schedules, kind, timeZone, dayStart, target, disabled }: DeclaredJob): string {
  const texts = schedules.map((schedule) => JSON.stringify(schedule)).sort();
  return JSON.stringify([texts, kind, timeZone, dayStart, target, disabled === 'job' ? false : undefined]);
}

export function describeSchedules({ schedules, disabled }: DeclaredJob): string {
  return [...schedules.map(describeSchedule), ...(disabled ? ['disabled'] : [])].join('; ');
}

export function describeSchedule(schedule: DeclaredSchedule): string {
  if ('every' in schedule) return schedule.every > 0 ? `every ${schedule.every / 1000} s` : 'as started';
  if ('at' in schedule) return `at ${schedule.at}`;
  const { expression, timeZone } = schedule;
  return timeZone === undefined ? expression : `${expression} (${timeZone})`;
}

/** Whether a value has what all versions of cronlatch declare. */
export function isDeclaration(value: unknown): value is DeclaredJob {
  const { lock, kind, schedules } = (value ?? {}) as Partial<DeclaredJob>;
  return typeof lock === 'string' && typeof kind === 'string' && Array.isArray(schedules);
}

export function declaredSince(
  stored: RegisteredJob | undefined,
  { declared }: Pick<JobRegistration, 'declared'>,
  now: Date,
): Date {
  const isSame = stored !== undefined && scheduleText(stored.declared) === scheduleText(declared);
  return (isSame ? stored.declaredAt : undefined) ?? now;
}

/**
 * Whether a job stays as another instance keeps registering it: an instance that runs the job comes before one that does not,
 * and of two others the first, unless this one has just changed.
 */
export function isLeftToOther(
  { declared: there, registeredBy, registeredAt }: RegisteredJob,
  { declared: here, registeredBy: instance }: JobRegistration,
  hasChanged: boolean,
  now: Date,
): boolean {
  if (registeredBy === instance || now.getTime() - registeredAt.getTime() >= IDLE_AFTER_MS) return false;
  if (here.disabled === 'guard' && !there.disabled) return true;
  if (hasChanged || (there.disabled && !here.disabled)) return false;
  return differencesOf(there, here).length > 0;
}

/** `undefined` if an instance may run it. A job with `disabled: 'job'` is neither late nor missed. */
export function whyDisabled({ declared: { disabled }, registeredBy }: RegisteredJob): string | undefined {
  if (disabled === 'job') return `its option enabled is false on ${registeredBy}, which registered it last`;
  return disabled && 'no instance that declares it is enabled';
}

/**
 * The register, as its store reads it. A job whose periods this version does not know counts as unreadable.
 *
 * @returns `undefined` if the database has no register of jobs
 */
export async function knownRegister(read: Promise<JobRegister>): Promise<JobRegister | undefined> {
  const register = await read.catch(noneAfter(SchemaMismatchError));
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
