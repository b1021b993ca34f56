import type { LockProvider, LockState, LockStorageError } from '../../core';
import { DAY_MS, parseDuration, type Duration } from '../../core/duration';
import { describeAhead } from '../../core/lease/lock-records';
import { isKept, readHold } from '../../core/lease/owner';
import type { LatestRun, RegisteredJob, RunSummary } from '../../ledger';
import { periodAt, periodsBetween } from '../../ledger';
import {
  declaredPolicy,
  findLateJobs,
  readKnownRegister,
  unknownZoneOf,
  zoneOf,
} from '../../ledger/known-register';
import { operatorCommand, stateOfRun, timeText, type KnownRun } from '../../ledger/operator/state-of-run';
import { canBePaused, type UnreadableJob } from '../../ledger/job-register';
import { describeRun, isRunAhead } from '../../ledger/run';
import { calendarPeriodsOf } from '../../ledger/policy/job-policy';
import { requestIdOf } from '../../ledger/operator/request-run';
import { limitOf, type LedgerContext } from '../../ledger/store-statements';
import { readHeldLocks, type GuardLocks } from './guard-locks';
import { skipsDates } from '../jobs/cron-expression';

type Problem = 'clock' | 'failed' | 'interrupted' | 'late' | 'missed' | 'unreachable' | 'unreadable';

/** What an operator should know of a job. */
export interface JobRemark {
  /**
   * Problems:
   *
   * - `clock`: its lock or a run has a time that lies ahead of the database's clock.
   * - `failed`: a run failed permanently, or the last run of a job that has only a lock.
   * - `interrupted`: the holder of a run crashed, and `onCrash` is `'hold'`.
   * - `late`: a scheduled time has passed, and no instance has answered its tick.
   * - `missed`: whole periods have passed since the newest run, and the schedule leaves out no date.
   * - `unreadable`: another version of cronlatch registered the job, or this machine does not know its time zone.
   * - `unreachable`: the lock provider did not answer, so no job gets its lock. A problem of all jobs.
   *
   * Notes:
   *
   * - `on hold`: an operator holds the lock.
   * - `standby`: all instances that declare the job are on standby.
   * - `undeclared`: no instance has declared the job for a week.
   */
  readonly kind: Problem | 'on hold' | 'standby' | 'undeclared';
  /** Of `failed`, `interrupted` and `late`: the same as long as it is about the same attempt or tick. */
  readonly id?: string | undefined;
  readonly text: string;
  /** The arguments of the `cronlatch` command that fixes it or explains it. `TEXT` stands for your reason. */
  readonly command?: readonly string[] | undefined;
}

/** The states of a job in one word, the worst first. */
const STATES = [
  ...([
    'failed',
    'interrupted',
    'unreadable',
    'clock',
    'on hold',
    'standby',
    'late',
    'missed',
    'unreachable',
  ] as const),
  ...(['due', 'running', 'kept', 'ok', 'disabled'] as const),
];

/** One job, with all its scopes. */
export interface JobOverview {
  readonly job: string;
  /**
   * In one word. Besides the kinds of remarks:
   *
   * - `due`: its newest run is waiting for an attempt.
   * - `running`: an instance holds its lock, or one of its runs is running.
   * - `kept`: the run has ended, and `lockAtLeastFor` keeps its lock.
   * - `disabled`: `enabled` is `false`.
   * - `ok`: nothing of that.
   */
  readonly state: (typeof STATES)[number];
  readonly problems: readonly JobRemark[];
  readonly notes: readonly JobRemark[];
  /** The run of the newest period, or of a job with `history: true` its last run. */
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
  /** The jobs, the worst state first. */
  readonly jobs: readonly JobOverview[];
  /** The held locks of no known job. `undefined` if the lock provider cannot list its locks, or did not answer. */
  readonly locks: readonly LockState[] | undefined;
}

/** How long a job can be undeclared before it counts as one that the code no longer has. */
const UNDECLARED_AFTER_MS = 7 * DAY_MS;

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

export async function readOverview(
  context: LedgerContext | undefined,
  guardLocks: GuardLocks,
  {
    lateAfter = '5m',
    when = (instant, { timeZone }) => `at ${timeText(instant, timeZone)}`,
  }: OverviewOptions,
): Promise<Overview> {
  const toleranceMs = parseDuration(lateAfter, 'lateAfter of guard.overview');
  const register = context && (await readKnownRegister(context));
  const latest = (await context?.store.latest(limitOf(context))) ?? [];
  const { now = new Date(), jobs: registered = [], unreadable = [] } = register ?? {};
  // The newest run shows that the clock was ahead. Other periods that have not begun may have runs, too.
  const ahead = latest.filter((run) => isRunAhead(run, now)).map(({ job }) => job);
  const future = { jobs: ahead, from: now, to: new Date(now.getTime() + 366 * DAY_MS), limit: 100 };
  const more = ahead.length > 0 ? await context?.store.summaries(future, limitOf(context)) : [];
  const runs = new Map([...(more ?? []), ...latest].map((run) => [describeRun(run), run])).values();
  const late = findLateJobs({ now, jobs: registered }, toleranceMs);
  const runsOf = new Map<string, LatestRun[]>();
  for (const run of runs) runsOf.set(run.job, [...(runsOf.get(run.job) ?? []), run]);
  const jobOf = new Map(registered.map((each) => [each.job, each]));
  const rowOf = new Map(unreadable.map((row) => [row.job, row]));
  const names = new Set([...jobOf.keys(), ...rowOf.keys(), ...runsOf.keys()]);
  const lockNameOf = (name: string): string => jobOf.get(name)?.declared.lock ?? name;
  const { held, areAll, failure } = await readHeldLocks(guardLocks, new Set([...names].map(lockNameOf)));
  const lockOf = new Map(held.map((lock) => [lock.name, lock]));
  const declared = new Set(registered.map((job) => job.declared.lock));
  for (const lock of held) if (!declared.has(lock.name) && describeAhead(lock)) names.add(lock.name);
  const jobs = [...names].sort().map((name) => {
    const [job, row, own] = [jobOf.get(name), rowOf.get(name), runsOf.get(name) ?? []];
    const lock = lockOf.get(lockNameOf(name));
    const timeZone = zoneOf(job?.declared) ?? own[0]?.timeZone ?? 'UTC';
    const at = (instant = now): string => when(instant, { timeZone, now });
    const found: Found = {
      name,
      job,
      lock,
      isUnreachable: failure !== undefined,
      runs: own,
      now,
      timeZone,
      at,
    };
    const unread = row ? [unreadableRemark(row)] : [];
    return overviewOfJob(found, [...unread, ...clockRemark(lock), ...lateRemark(found, late.get(name))]);
  });
  for (const { lock } of jobs) if (lock) lockOf.delete(lock.name);
  jobs.sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state));
  const problems = failure ? [unreachableRemark(context?.lockProvider, failure)] : [];
  const locks = areAll ? [...lockOf.values()] : undefined;
  return { now, hasRegister: register !== undefined, problems, jobs, locks };
}

/** Of a lock provider that cannot list its locks: those of known jobs, each once. */
export function locksOfJobs({ jobs }: Overview): readonly LockState[] {
  return [...new Map(jobs.flatMap(({ lock }) => (lock ? [[lock.name, lock]] : []))).values()];
}

/** Without the words of the store, which may contain secrets. */
export function unreachableRemark(
  { id }: Partial<LockProvider> = {},
  { driverCode }: LockStorageError,
): JobRemark {
  const text = `The lock provider${id === undefined ? '' : ` '${id}'`} did not answer${driverCode === undefined ? '' : ` (${driverCode})`}. No job gets its lock, and it is unknown which locks are held.`;
  return { kind: 'unreachable', text };
}

interface Found {
  readonly name: string;
  readonly job: RegisteredJob | undefined;
  readonly lock: LockState | undefined;
  readonly isUnreachable: boolean;
  readonly runs: readonly LatestRun[];
  readonly now: Date;
  readonly timeZone: string;
  readonly at: (instant: Date | undefined) => string;
}

function overviewOfJob(found: Found, others: readonly JobRemark[]): JobOverview {
  const { name, job, lock, runs, timeZone, at } = found;
  const [newest, notes] = [newestOf(runs), notesOf(found)];
  const ofRuns = runs.flatMap((run) => problemOf(run, at, found.now));
  const problems = [...ofRuns, ...others, ...missedRemark(found), ...lastRunRemark(found)];
  const running = runs.filter(({ state }) => state === 'running');
  const isKeptLock = lock !== undefined && isKept(lock.lockedBy);
  const isHeld = lock !== undefined && !isKeptLock && !readHold(lock.lockedBy);
  const words: Partial<Record<string, boolean>> = {
    unreachable: found.isUnreachable && job?.declared.enabled !== false,
    due: newest?.state === 'pending' || (newest?.state === 'failed' && newest.nextAttemptAt !== undefined),
    running: isHeld || running.length > 0,
    kept: isKeptLock,
    ok: job?.declared.enabled !== false,
    ...Object.fromEntries([...problems, ...notes].map(({ kind }) => [kind, true])),
  };
  return {
    job: name,
    state: STATES.find((state) => words[state]) ?? 'disabled',
    problems,
    notes,
    lastRun: newest ?? (job && lastRunOf(job)),
    running,
    lock,
    nextScheduledAt: job?.nextScheduledAt,
    timeZone,
  };
}

function newestOf(runs: readonly RunSummary[]): RunSummary | undefined {
  const startOf = ({ periodStart, createdAt }: RunSummary): Date => periodStart ?? createdAt;
  return runs.toSorted((a, b) => startOf(b).getTime() - startOf(a).getTime())[0];
}

function lastRunOf(job: RegisteredJob): JobOverview['lastRun'] {
  const { lastOutcome: state, lastStartedAt: startedAt, lastFinishedAt: finishedAt, lastHolder } = job;
  return state === undefined ? undefined : { state, startedAt, finishedAt, claimedBy: lastHolder };
}

function notesOf({ name, job, lock, now, at }: Found): JobRemark[] {
  const notes: JobRemark[] = [];
  const hold = lock && readHold(lock.lockedBy);
  if (lock && hold) {
    const text = `${hold.actor} holds lock '${lock.name}': ${hold.reason}. The hold ends ${at(lock.lockUntil)}. To end it now:`;
    notes.push({ kind: 'on hold', text, command: endOfHold(lock.name, job) });
  }
  if (job?.declared.standby)
    notes.push({ kind: 'standby', text: `All instances with job '${name}' are on standby.` });
  if (job && now.getTime() - job.registeredAt.getTime() > UNDECLARED_AFTER_MS) {
    const text = `Job '${name}' was last declared ${at(job.registeredAt)}. If your code no longer has it:`;
    notes.push({ kind: 'undeclared', text, command: operatorCommand('forget', [name]) });
  }
  return notes;
}

/** The command that ends the hold of a lock, by the name of its job if that is known. */
export function endOfHold(lock: string, job: RegisteredJob | undefined): readonly string[] {
  return job && canBePaused(job.declared)
    ? operatorCommand('resume', [job.job])
    : operatorCommand('unhold', [lock]);
}

export function unreadableRemark(row: UnreadableJob): JobRemark {
  const isReadableElsewhere = unknownZoneOf(row.declared) !== undefined;
  const command = isReadableElsewhere ? undefined : operatorCommand('forget', [row.job]);
  return { kind: 'unreadable', text: unreadableText(row), command };
}

export function unreadableText({ job, version, declared }: Omit<UnreadableJob, 'registeredBy'>): string {
  const zone = unknownZoneOf(declared);
  if (zone !== undefined) {
    const { node, icu = 'none', tz = 'none' } = process.versions;
    return `Job '${job}' cannot be read: its time zone '${zone}' is unknown to this Node ${node} (ICU ${icu}, time zones ${tz}). Use a newer Node here.`;
  }
  return `Job '${job}' cannot be read: cronlatch ${version} has registered it. Use that version here. If your code no longer has the job, use cronlatch forget.`;
}

function lateRemark({ name, lock, at }: Found, tick: Date | undefined): JobRemark[] {
  if (tick === undefined) return [];
  const why = lock && readHold(lock.lockedBy) ? 'it is on hold' : 'no instance has answered it';
  const text = `Job '${name}' is late: its tick was due ${at(tick)}, and ${why}.`;
  return [{ kind: 'late', id: requestIdOf('late', name, tick), text, command: whyCommand(name) }];
}

export function whyCommand(job: string): readonly string[] {
  return ['why', ...(job.startsWith('-') ? ['--', job] : [job])];
}

export function clockRemark(lock: LockState | undefined): JobRemark[] {
  const text = lock && describeAhead(lock);
  if (!text) return [];
  const command = operatorCommand('release', [lock.name], ['--owner', lock.lockedBy]);
  return [{ kind: 'clock', text, command }];
}

/** The last run of a job that has only a lock. */
function lastRunRemark({ name, job, at }: Found): JobRemark[] {
  if (job?.lastOutcome !== 'failed') return [];
  // The next tick can fail again, so there is one problem a day.
  const id = requestIdOf('failed', name, job.lastFinishedAt?.toISOString().slice(0, 10));
  return [{ kind: 'failed', id, text: `Job '${name}' failed ${at(job.lastFinishedAt)}.` }];
}

/** Whether a schedule of the job leaves out no date. */
export function isEachPeriodScheduled({ enabled, schedules }: RegisteredJob['declared']): boolean {
  const isRegular = schedules.length > 0 && !schedules.some(({ expression }) => skipsDates(expression));
  return isRegular && enabled !== false;
}

/** Whole periods since the newest run. A schedule that skips dates, and a calendar, expect no run in some of them. */
function missedRemark({ name, job, runs, now }: Found): JobRemark[] {
  const policy = job && declaredPolicy(job);
  const periods = policy && calendarPeriodsOf(policy);
  const newest = newestOf(runs);
  if (job === undefined || periods === undefined || newest?.periodEnd === undefined) return [];
  if (job.declared.hasCalendar || !isEachPeriodScheduled(job.declared)) return [];
  const missed = periodsBetween(newest.periodEnd, periodAt(now, periods).start, periods);
  const [first, last] = [missed[0], missed.at(-1)];
  if (first === undefined || last === undefined) return [];
  const others = missed.length > 1 ? ` and ${missed.length - 1} more` : '';
  const range = ['--from', first.businessDate, '--to', last.businessDate];
  const text = `Job '${name}' has missed ${first.key}${others}. To run them:`;
  return [{ kind: 'missed', text, command: operatorCommand('backfill', [name], range) }];
}

/** A run that no instance goes on with by itself, or that was written while the clock was ahead. */
export function problemOf(run: KnownRun, when?: Found['at'], now?: Date): JobRemark[] {
  const { job, scope, periodKey, generation, attempt, state, nextAttemptAt } = run;
  const isOver = state === 'interrupted' || (state === 'failed' && nextAttemptAt === undefined);
  if (!isOver && !isRunAhead(run, now)) return [];
  const { sentence, remedy } = stateOfRun(run, { now, ...(when && { when }) });
  const text = `The run of job '${job}'${scope === '' ? '' : ` (${scope})`} for ${periodKey} ${sentence}. ${remedy?.advice}`;
  if (!isOver) return [{ kind: 'clock', text, command: remedy?.command }];
  const id = requestIdOf(state, job, scope, periodKey, generation, attempt);
  return [{ kind: state, id, text, command: remedy?.command }];
}
