import type { LockProvider, LockState, LockStorageError } from '../core';
import { DAY_MS } from '../core/duration';
import { isHeldByProcess, readHold } from '../core/lease/hold-owner';
import { instanceOf } from '../core/lease/owner';
import { describeAhead } from '../core/lease/lock-records';
import type { LatestRun, RegisteredJob } from '../ledger';
import type { CalendarPeriod } from '../ledger/periods/period';
import { unknownZoneOf, type UnreadableJob } from '../ledger/job-register';
import { idOf } from '../ledger/operator/request-run';
import { releaseOf, remedyFor, type Remedy } from '../ledger/operator/remedy';
import { stateOfRun, type KnownRun } from '../ledger/operator/state-of-run';
import { describeRun, isRunAhead } from '../ledger/run';

type Problem =
  'clock' | 'failed' | 'interrupted' | 'late' | 'missed' | 'stuck' | 'unreachable' | 'unreadable';

/** What an operator should know of a job. */
export interface JobRemark {
  /**
   * Problems:
   *
   * - `clock`: its lock or a run has a time that lies ahead of the database's clock.
   * - `failed`: a run failed permanently.
   * - `interrupted`: the lease of a run ended, its holder has not come back, and `onCrash` is `'hold'`.
   * - `late`: a scheduled time has passed, and no instance has answered its tick.
   * - `missed`: an expected period has no run, and can no longer get one by itself. Those of the last seven days count, and
   *   the newest one.
   * - `stuck`: its lock is held for more than a day, and longer than any job with that lock declares, or the lease of a run ended
   *   15 min ago and no instance has repeated it.
   * - `unreadable`: another version of cronlatch registered the job, or this machine does not know its time zone.
   * - `unreachable`: the lock provider did not answer, so no job gets its lock. A problem of all jobs.
   *
   * Notes:
   *
   * - `paused`: an operator has paused the lock.
   * - `in use`: a process holds its lock, which other jobs share, so it is unknown which of them runs.
   * - `unknown owner`: neither cronlatch nor ShedLock wrote the owner of its lock.
   * - `undeclared`: no instance has declared the job for a week.
   */
  readonly kind: Problem | 'paused' | 'in use' | 'undeclared' | 'unknown owner';
  /** Of `failed`, `interrupted`, `late` and `missed`: the same as long as it is about the same attempt, or about ticks of one day. */
  readonly id?: string | undefined;
  readonly text: string;
  /** What the text reports, without the names of the job and the period, the detail and the advice. No full stop. */
  readonly brief: string;
  /** The beginning of the error, or the reason of an operator. */
  readonly detail?: string | undefined;
  /** What fixes it or explains it. `commandOf` returns it as a command. */
  readonly remedy?: Remedy | undefined;
}

/** How long a job can be undeclared before it counts as one that the code no longer has. */
const UNDECLARED_AFTER_MS = 7 * DAY_MS;

/** What the store and the register know of a job. */
export interface KnownJob {
  readonly name: string;
  readonly job: RegisteredJob | undefined;
  readonly lock: LockState | undefined;
  /** The other jobs with the same lock. */
  readonly sharing: readonly string[];
  /** The longest `lockAtMostFor` of the jobs with the lock, in milliseconds. */
  readonly leaseMs: number;
  /** Whether a lock that is not held is free. */
  readonly isLockKnown: boolean;
  readonly isUnreachable: boolean;
  readonly runs: readonly LatestRun[];
  readonly now: Date;
  readonly timeZone: string;
  readonly at: (instant: Date | undefined) => string;
}

/** Without the words of the store, which may contain secrets. */
export function unreachableRemark(
  { id }: Partial<LockProvider> = {},
  { driverCode }: LockStorageError,
): JobRemark {
  const brief = `The lock provider${id === undefined ? '' : ` '${id}'`} did not answer${driverCode === undefined ? '' : ` (${driverCode})`}`;
  const detail = 'No job gets its lock, and it is unknown which locks are held.';
  return { kind: 'unreachable', text: `${brief}. ${detail}`, brief, detail };
}

export function notesOf({ name, job, lock, sharing, runs, now, at }: KnownJob): JobRemark[] {
  const notes: JobRemark[] = [];
  const hold = lock && readHold(lock.lockedBy);
  if (lock && hold) {
    const text = `${hold.actor} has paused lock '${lock.name}': ${hold.reason}. The pause ends ${at(lock.lockUntil)}. To end it now:`;
    const brief = `paused by ${hold.actor}; the pause ends ${at(lock.lockUntil)}`;
    notes.push({ kind: 'paused', text, brief, detail: hold.reason, remedy: endOfPause(lock.name, job) });
  }
  if (lock && isHeldByProcess(lock) && sharing.length > 0 && !runs.some(({ state }) => state === 'running')) {
    const brief = `is in use by ${instanceOf(lock.lockedBy)}. Other jobs have it, too: ${sharing.join(', ')}`;
    const text = `Lock '${lock.name}' of job '${name}' ${brief}.`;
    notes.push({ kind: 'in use', text, brief: `its lock ${brief}` });
  }
  if (lock && !OWNER.test(lock.lockedBy) && !hold) {
    const brief = `is held by '${lock.lockedBy}'. Neither cronlatch nor ShedLock names its holders so`;
    notes.push({ kind: 'unknown owner', text: `Lock '${lock.name}' ${brief}.`, brief: `its lock ${brief}` });
  }
  if (job && now.getTime() - job.registeredAt.getTime() > UNDECLARED_AFTER_MS) {
    const brief = `was last declared ${at(job.registeredAt)}`;
    const text = `Job '${name}' ${brief}. If your code no longer has it:`;
    notes.push({ kind: 'undeclared', text, brief, remedy: remedyFor('forget', { job: name }) });
  }
  return notes;
}

/** cronlatch writes host, process and a UUID. ShedLock for Java writes the name of the host. */
const OWNER = /^(.+\/\d+\/[\da-f]{8}-[\da-f-]{27}(\/.*)?|[\w.-]+)$/;

const NOT_REPEATED_MS = 900_000;

/** A lease that lasts for longer than any that a job with this lock declares, and a run that no instance repeats. */
export function stuckRemarks({ lock, leaseMs, runs, now, at }: KnownJob): JobRemark[] {
  const ofRuns = runs.flatMap((run): JobRemark[] => {
    const { state, leaseUntil = now } = run;
    if (state !== 'running' || now.getTime() - leaseUntil.getTime() <= NOT_REPEATED_MS) return [];
    const brief = `has a lease that ended ${at(leaseUntil)}, and no instance repeats it`;
    const text = `${describeRun(run).replace('t', 'T')} ${brief}. If its process is dead:`;
    return [{ kind: 'stuck', text, brief, remedy: remedyFor('rerun', run, { force: true }) }];
  });
  if (!lock || !isHeldByProcess(lock) || describeAhead(lock)) return ofRuns;
  if (lock.lockUntil.getTime() - now.getTime() <= Math.max(DAY_MS, leaseMs)) return ofRuns;
  const brief = `is held by ${instanceOf(lock.lockedBy)}, and ends ${at(lock.lockUntil)}. Its job does not run until then`;
  const text = `Lock '${lock.name}' ${brief}. If its process is dead:`;
  return [{ kind: 'stuck', text, brief: `its lock ${brief}`, remedy: releaseOf(lock) }, ...ofRuns];
}

/** Ends the pause of a lock, by the name of its job if that is known. */
export function endOfPause(lock: string, job: RegisteredJob | undefined): Remedy {
  if (job && !job.declared.hasNameFunction) return remedyFor('resume', job);
  return { verb: 'resume', subject: { lock }, values: { lock } };
}

export function unreadableRemark(row: UnreadableJob): JobRemark {
  const isReadableElsewhere = unknownZoneOf(row.declared) !== undefined;
  const remedy = isReadableElsewhere ? undefined : remedyFor('forget', row);
  const text = unreadableText(row);
  return { kind: 'unreadable', text, brief: text.replace(/\.$/, ''), remedy };
}

export function unreadableText({ job, version, declared }: Omit<UnreadableJob, 'registeredBy'>): string {
  const zone = unknownZoneOf(declared);
  if (zone !== undefined) {
    const { node, icu = 'none', tz = 'none' } = process.versions;
    return `Job '${job}' cannot be read: its time zone '${zone}' is unknown to this Node ${node} (ICU ${icu}, time zones ${tz}). Use a newer Node here.`;
  }
  return `Job '${job}' cannot be read: cronlatch ${version} has registered it. Use that version here. If your code no longer has the job, use cronlatch forget.`;
}

export function lateRemark({ name, at }: KnownJob, tick: Date | undefined): JobRemark[] {
  if (tick === undefined) return [];
  const brief = `its tick was due ${at(tick)}, and no instance has answered it`;
  const text = `Job '${name}' is late: ${brief}.`;
  return [
    { kind: 'late', id: idOf('late', name, tick), text, brief, remedy: remedyFor('why', { job: name }) },
  ];
}

export function clockRemark(lock: LockState | undefined): JobRemark[] {
  const text = lock && describeAhead(lock);
  if (!text) return [];
  return [{ kind: 'clock', text, brief: text.replace(/[.:]$/, ''), remedy: releaseOf(lock) }];
}

/** So many missed periods are named. */
const SHOWN = 3;

/** @param missed the earliest first */
export function missedRemark(name: string, missed: readonly CalendarPeriod[]): JobRemark[] {
  const [first, last] = [missed[0], missed.at(-1)];
  if (first === undefined || last === undefined) return [];
  const others = missed.length > 1 ? ` and ${missed.length - 1} more` : '';
  const range = { from: first.businessDate, to: last.businessDate };
  const text = `Job '${name}' has missed ${first.key}${others}. To run them:`;
  const keys = missed.slice(0, SHOWN).map(({ key }) => key);
  const more = missed.length > SHOWN ? ` and ${missed.length - SHOWN} more` : '';
  const brief = `no run for ${keys.join(', ')}${more}`;
  const id = idOf('missed', name, last.key);
  return [{ kind: 'missed', id, text, brief, remedy: remedyFor('run', { job: name }, range) }];
}

/** The key of a tick. */
const TICK = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d\.\d{3}Z/;

/** A run that no instance goes on with by itself, or that was written while the clock was ahead. */
export function problemOf(run: KnownRun, when?: KnownJob['at'], now?: Date): JobRemark[] {
  const { job, scope, periodKey, generation, attempt, state, nextAttemptAt } = run;
  const isOver = state === 'interrupted' || (state === 'failed' && nextAttemptAt === undefined);
  if (!isOver && !isRunAhead(run, now)) return [];
  const { sentence, brief, reason, advice, remedy } = stateOfRun(run, { now, ...(when && { when }) });
  const text = `The run of job '${job}'${scope === '' ? '' : ` (${scope})`} for ${periodKey} ${sentence}. ${advice}`;
  const remark = { text, brief, detail: reason ?? (state === 'interrupted' ? advice : undefined), remedy };
  if (!isOver) return [{ kind: 'clock', ...remark }];
  // The next tick can fail again, so such a job has one problem a day.
  const [, day] = TICK.exec(periodKey) ?? [];
  const of = day === undefined ? [periodKey, generation, attempt] : [day];
  const id = idOf(state, job, scope, ...of);
  return [{ kind: state, id, ...remark }];
}
