import type { PeriodKind } from './periods/period';
import type { CatchUpPolicy } from './policy/catch-up';
import type { RetryPolicy } from './policy/retry';

/** One schedule of a job. */
export interface DeclaredSchedule {
  readonly expression: string;
  /** `undefined`: the time zone of the host. */
  readonly timeZone?: string | undefined;
}

/** What the code of one instance declares about a job, as plain JSON. Durations are in milliseconds. */
export interface DeclaredJob {
  /** The name of its lock, or the label of a name function. */
  readonly lock: string;
  /** The names of its locks depend on its arguments. Without that, `undefined`, as older versions declare it. */
  readonly hasNameFunction?: true | undefined;
  readonly lockAtMostForMs: number;
  readonly lockAtLeastForMs: number;
  readonly keepAlive: boolean;
  /** `'lock'`: the job has only a lock. `'custom'`: a key function decides the period, and only code knows it. */
  readonly kind: 'lock' | PeriodKind | 'custom';
  readonly timeZone?: string | undefined;
  readonly dayStart?: string | undefined;
  readonly target?: 'current' | 'previous' | undefined;
  /** Empty for a job that something else calls, such as `guard.wrap` or an interval. */
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
  /** `false`: no instance runs it. `undefined`: it may run, or a function decides. */
  readonly enabled?: false | undefined;
  /** The instance is on standby, and knows of no other instance that runs the job. */
  readonly standby?: true | undefined;
}

/** A job as an instance registers it. */
export interface JobRegistration {
  /** The name of the once-per job, or else the name of the lock. */
  readonly job: string;
  readonly declared: DeclaredJob;
  readonly nextScheduledAt: Date | undefined;
  readonly version: string;
  /** The host and the process: `host/pid`. */
  readonly registeredBy: string;
}

/** How often an instance registers its jobs again, at a check for overdue runs. */
export const REGISTER_EVERY_MS = 120_000;
/** No instance declares a job that was not registered for so long. */
export const IDLE_AFTER_MS = 900_000;

/** All instants but the scheduled time are the database's. */
export interface RegisteredJob extends JobRegistration {
  /** When an instance last registered it. Instances do so every 2 minutes, at a check for overdue runs. */
  readonly registeredAt: Date;
}

export interface JobRegister {
  /** The current time of the store. */
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

/** Moves the next scheduled time on, unless the stored one is later than `answeredAt`. */
export interface JobChange {
  readonly job: string;
  readonly answeredAt: Date;
  readonly nextScheduledAt: Date | undefined;
}

/** The options that two declarations of a job have otherwise, with both values as JSON. Standby is not one of them. */
export function differencesOf(before: DeclaredJob, now: DeclaredJob) {
  const textOf = (value: unknown): string | undefined => JSON.stringify(value);
  const options = Object.keys({ ...before, ...now }) as (keyof DeclaredJob)[];
  return options
    .filter((option) => option !== 'standby')
    .map((option) => ({ option, before: textOf(before[option]), now: textOf(now[option]) }))
    .filter((difference) => difference.before !== difference.now);
}

/** Compared as a text. Without `enabled`, a job that is enabled again would be late for the time before. */
export function scheduleText({ schedules, enabled }: DeclaredJob): string {
  const texts = schedules.map(({ expression, timeZone }) =>
    timeZone === undefined ? expression : `${expression} (${timeZone})`,
  );
  return [...texts.sort(), ...(enabled === false ? ['disabled'] : [])].join('; ');
}

/** Whether a value has what all versions of cronlatch declare. */
export function isDeclaration(value: unknown): value is DeclaredJob {
  const { lock, kind, schedules } = (value ?? {}) as Partial<DeclaredJob>;
  return typeof lock === 'string' && typeof kind === 'string' && Array.isArray(schedules);
}

/**
 * The next scheduled time after a job has been registered again. A stored time stays while the schedule stays, so that a
 * tick that no instance has answered can still be seen after a restart. A stored time that lies after the next one came
 * from a clock that was wrong.
 */
export function nextAfterRegistration(
  stored: RegisteredJob | undefined,
  { declared, nextScheduledAt: next }: JobRegistration,
  now: Date,
): Date | undefined {
  const time = stored?.nextScheduledAt;
  if (stored === undefined || time === undefined) return next;
  if (scheduleText(stored.declared) !== scheduleText(declared)) return next;
  return next !== undefined && time > next && next > now ? next : time;
}

/** Whether other instances keep registering another declaration. A job that is turned off here may run elsewhere. */
export function isDeclaredOtherwise(
  { declared: there, registeredAt }: RegisteredJob,
  here: DeclaredJob,
  now: Date,
): boolean {
  if (there.enabled !== here.enabled) return here.enabled === false;
  return isFresh(registeredAt, now) && differencesOf(there, here).length > 0;
}

/** Whether another instance, which is not on standby, declares the job. */
export function isActiveElsewhere(stored: RegisteredJob | undefined, instance: string, now: Date): boolean {
  if (stored === undefined || stored.registeredBy === instance) return false;
  return stored.declared.standby !== true && isFresh(stored.registeredAt, now);
}

function isFresh(registeredAt: Date, now: Date): boolean {
  return now.getTime() - registeredAt.getTime() < IDLE_AFTER_MS;
}
