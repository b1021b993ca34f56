import type { LockState } from '../core';
import { DAY_MS, parseDuration, type Duration } from '../core/duration';
import { isHeldByProcess } from '../core/lease/hold-owner';
import { describeAhead } from '../core/lease/lock-records';
import { isOwnName } from '../core/lock-name';
import { isKept } from '../core/lease/owner';
import type { LatestRun, RegisteredJob, RunSummary } from '../ledger';
import { LATE_AFTER_MS, lateTime, nextTimeOf } from '../ledger/expected';
import { zoneOf } from '../ledger/job-register';
import { timeText } from '../ledger/operator/state-of-run';
import { describeRun, isRunAhead, placeInTime } from '../ledger/run';
import { limitOf } from '../ledger/store-statements';
import type { GuardLocks } from '../guard';
import { readHeldLocks } from './held-locks';
import { JobCatalog, type KnownJobs } from './job-catalog';
import {
  clockRemark,
  lateRemark,
  missedRemark,
  notesOf,
  problemOf,
  stuckRemarks,
  unreachableRemark,
  unreadableRemark,
  type JobRemark,
  type KnownJob,
} from './remarks';

/** The states of a job in words, the worst first. A job that runs is shown as running, unless it is stuck or its clock was wrong. */
const STATES = [
  ...(['failed', 'interrupted', 'unreadable', 'clock', 'stuck'] as const),
  ...(['paused', 'missed', 'late', 'unreachable'] as const),
  ...(['due', 'running', 'kept', 'ok', 'not run yet', 'no record', 'disabled'] as const),
];

/** One job, with all its scopes. */
export interface JobOverview {
  readonly job: string;
  /**
   * In words. Besides the kinds of remarks:
   *
   * - `running`: one of its runs is running, or an instance holds its lock and no other job has that. It comes before all others but `stuck` and `clock`.
   * - `due`: its newest run is waiting for an attempt, or its process is gone.
   * - `kept`: the run has ended, and `lockAtLeastFor` keeps its lock.
   * - `disabled`: its `enabled` is `false`, or that of all guards that declare it.
   * - `not run yet`: it keeps runs, and has none.
   * - `no record`: it has only a lock, and no instance has answered a tick yet.
   * - `ok`: nothing of that.
   */
  readonly state: (typeof STATES)[number];
  readonly problems: readonly JobRemark[];
  readonly notes: readonly JobRemark[];
  /** The run of the newest period. */
  readonly lastRun:
    | (Pick<RunSummary, 'state' | 'startedAt' | 'finishedAt' | 'claimedBy'> & { readonly periodKey?: string })
    | undefined;
  /** The runs that are running now. `done` and `total` are what `currentRun().progress()` has reported. */
  readonly running: readonly LatestRun[];
  /** `undefined` if its lock is free. */
  readonly lock: LockState | undefined;
  readonly nextScheduledAt: Date | undefined;
  /** Of its periods, or else of its first schedule. */
  readonly timeZone: string;
}

/** The jobs of all instances at one moment. */
export interface Overview {
  /** The current time of the database, or else that of this host. */
  readonly now: Date;
  /** `false`: only jobs that have runs are known. */
  readonly hasRegister: boolean;
  /** Those of no single job. */
  readonly problems: readonly JobRemark[];
  /** The jobs, the worst state first. Those of cronlatch itself come last. */
  readonly jobs: readonly JobOverview[];
  /** The held locks of no known job. `undefined` if the lock provider cannot list its locks, or did not answer. */
  readonly locks: readonly LockState[] | undefined;
}

export interface OverviewOptions {
  /**
   * How long ago a scheduled time must have passed for a job to be late. Use more than two `pollInterval` of your guards.
   * Default 5 minutes
   */
  readonly lateAfter?: Duration | undefined;
  /**
   * Puts the instants of all texts into words that follow a verb. Default: `at`, and the time in the time zone of the job.
   *
   * @param of.now the current time of the database
   */
  readonly when?:
    ((instant: Date, of: { readonly timeZone: string; readonly now: Date }) => string) | undefined;
}

export type WhenOfJob = NonNullable<OverviewOptions['when']>;

export const timeAt: WhenOfJob = (instant, { timeZone }) => `at ${timeText(instant, timeZone)}`;

export async function readOverview(
  jobsOfGuard: KnownJobs | undefined,
  guardLocks: GuardLocks,
  { lateAfter = LATE_AFTER_MS, when = timeAt }: OverviewOptions,
): Promise<Overview> {
  const lateAfterMs = parseDuration(lateAfter, 'lateAfter of an overview');
  const { context } = jobsOfGuard ?? {};
  const known = jobsOfGuard && (await JobCatalog.read(jobsOfGuard));
  const register = known?.register;
  const latest = (await context?.store.latest(limitOf(context))) ?? [];
  const { now = new Date(), jobs: registered = [], unreadable = [] } = register ?? {};
  // The newest run shows that the clock was ahead. Other periods that have not begun may have runs, too.
  const ahead = latest.filter((run) => isRunAhead(run, now)).map(({ job }) => job);
  const future = { jobs: ahead, from: now, to: new Date(now.getTime() + 366 * DAY_MS), limit: 100 };
  const more = ahead.length > 0 ? await context?.store.summaries(future, limitOf(context)) : [];
  const runs = new Map([...(more ?? []), ...latest].map((run) => [describeRun(run), run])).values();
  const missed = await known?.missed();
  const runsOf = new Map<string, LatestRun[]>();
  for (const run of runs) runsOf.set(run.job, [...(runsOf.get(run.job) ?? []), run]);
  const jobOf = new Map(registered.map((each) => [each.job, each]));
  const rowOf = new Map(unreadable.map((row) => [row.job, row]));
  const names = new Set([...jobOf.keys(), ...rowOf.keys(), ...runsOf.keys()]);
  const lockNameOf = (name: string): string => jobOf.get(name)?.declared.lock ?? name;
  const { held, areAll, areKnown, failure } = await readHeldLocks(
    guardLocks,
    new Set([...names].map(lockNameOf)),
  );
  const isUnreachable = failure !== undefined;
  const lockOf = new Map(held.map((lock) => [lock.name, lock]));
  const declared = new Map<string, RegisteredJob[]>();
  for (const each of registered)
    declared.set(each.declared.lock, [...(declared.get(each.declared.lock) ?? []), each]);
  for (const lock of held) if (!declared.has(lock.name) && describeAhead(lock)) names.add(lock.name);
  const jobs = [...names].sort().map((name) => {
    const [job, row, own] = [jobOf.get(name), rowOf.get(name), runsOf.get(name) ?? []];
    const lock = lockOf.get(lockNameOf(name));
    const timeZone = zoneOf(job?.declared) ?? own[0]?.timeZone ?? 'UTC';
    const at = (instant = now): string => when(instant, { timeZone, now });
    const withLock = declared.get(lockNameOf(name)) ?? [];
    const sharing = withLock.map((each) => each.job).filter((each) => each !== name);
    const leaseMs = Math.max(0, ...withLock.map((each) => each.declared.lockAtMostForMs));
    const isLockKnown = areKnown && job?.declared.hasNameFunction === undefined;
    const ofLock = { lock, sharing, leaseMs, isLockKnown, isUnreachable };
    const found: KnownJob = Object.assign(ofLock, { name, job, runs: own, now, timeZone, at });
    const unread = row ? [unreadableRemark(row)] : [];
    const late = job && lateTime(job, own, { now, lateAfterMs, lock });
    const ofSchedule = [...lateRemark(found, late), ...missedRemark(name, missed?.get(name) ?? [])];
    return overviewOfJob(found, [...unread, ...clockRemark(lock), ...stuckRemarks(found), ...ofSchedule]);
  });
  for (const { lock } of jobs) if (lock) lockOf.delete(lock.name);
  for (const { name } of held) if (isOwnName(name)) lockOf.delete(name);
  const placeOf = ({ job, state, problems }: JobOverview): number => {
    const kinds: readonly string[] = [state, ...problems.map(({ kind }) => kind)];
    return isOwnName(job) ? STATES.length : STATES.findIndex((each) => kinds.includes(each));
  };
  jobs.sort((a, b) => placeOf(a) - placeOf(b));
  const problems = failure ? [unreachableRemark(context?.lockProvider, failure)] : [];
  const locks = areAll ? [...lockOf.values()] : undefined;
  return { now, hasRegister: register !== undefined, problems, jobs, locks };
}

/** Of a lock provider that cannot list its locks: those of known jobs, each once. */
export function locksOfJobs({ jobs }: Overview): readonly LockState[] {
  return [...new Map(jobs.flatMap(({ lock }) => (lock ? [[lock.name, lock]] : []))).values()];
}

function overviewOfJob(found: KnownJob, others: readonly JobRemark[]): JobOverview {
  const { name, job, lock, runs, timeZone, at } = found;
  const [newest] = runs.toSorted((a, b) => placeInTime(b) - placeInTime(a));
  const notes = notesOf(found);
  const ofRuns = runs.flatMap((run) => problemOf(run, at, found.now));
  const problems = [...ofRuns, ...others];
  // Without a process that holds the lock, a run that is running has been left: an instance will repeat it.
  const isLeft = job !== undefined && found.isLockKnown && !isHeldByProcess(lock);
  const ofProcess = runs.filter(({ state }) => state === 'running');
  const running = isLeft ? [] : ofProcess;
  const isKeptLock = lock !== undefined && isKept(lock.lockedBy);
  // The row of a lock that several jobs share does not show which of them runs.
  const isHeld = isHeldByProcess(lock);
  const isRecorded = job?.declared.kind !== 'lock';
  const isOn = job?.declared.disabled === undefined;
  const words: Partial<Record<string, boolean>> = {
    unreachable: found.isUnreachable && isOn,
    due:
      ofProcess.length > running.length ||
      newest?.state === 'pending' ||
      (newest?.state === 'failed' && newest.nextAttemptAt !== undefined),
    running: running.length > 0 || (isHeld && found.sharing.length === 0),
    kept: isKeptLock,
    ok: isOn && (isRecorded ? newest !== undefined : job?.answeredAt !== undefined),
    'not run yet': isOn && isRecorded,
    'no record': isOn,
    ...Object.fromEntries([...problems, ...notes].map(({ kind }) => [kind, true])),
  };
  return {
    job: name,
    state:
      words['running'] && !words['stuck'] && !words['clock']
        ? 'running'
        : (STATES.find((state) => words[state]) ?? 'disabled'),
    problems,
    notes,
    lastRun: newest,
    running,
    lock,
    nextScheduledAt: job && nextTimeOf(job, found.now),
    timeZone,
  };
}
