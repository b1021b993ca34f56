import type { StatementOptions } from '../core';
import type { JobAnswer, JobRegister, JobRegistration } from './job-register';
import type { ActStore } from './act-store';
import type { Claim, LatestRun, Run, RunCount, RunEvent } from './run';
import type { RunEventKind, RunKey, RunPeriod, RunSummary } from './run';
import type { RunLogStore } from './run-log-store';
import type { RunState } from './run-state';

/** A row to insert. The store sets `createdAt` and `updatedAt`, and computes every instant that counts from now. */
export interface NewRun extends RunKey, RunPeriod {
  readonly state: 'running' | 'pending' | 'skipped';
  readonly reason?: string | undefined;
  /** For a run that starts at once, as attempt 1. A pending run is due from now on. */
  readonly started?:
    | {
        /** Unique for this attempt. */
        readonly claimedBy: string;
        readonly lockId: string;
        readonly fencingToken: number | undefined;
        /** The longest time that the attempt's lease can last, renewals included. */
        readonly leaseMs: number;
      }
    | undefined;
  /** Written together with the row. */
  readonly event?: NewRunEvent | undefined;
}

/** Without a time, the store sets its current time. */
export type NewRunEvent = Omit<RunEvent, 'at'> & { readonly at?: Date };

/** @param actor by default the holder of the run's claim */
export function runEventOf(
  { generation = 0, attempt = 0, fencingToken, claimedBy = 'unknown' }: Partial<Run>,
  kind: RunEventKind,
  detail?: string,
  actor = claimedBy,
): NewRunEvent {
  return { generation, attempt, kind, actor, fencingToken, detail };
}

/** A row that the store has locked. */
export interface FoundRun {
  readonly run: Run;
  readonly now: Date;
}

export interface Decision<T> {
  readonly value: T;
  /** The new row. Its key, period and `createdAt` stay, and the store sets `updatedAt` to its current time. */
  readonly write?: Run | undefined;
  readonly events?: readonly NewRunEvent[] | undefined;
}

export interface PeekRequest extends Pick<RunKey, 'job' | 'scope'> {
  readonly periodKey: string | undefined;
  /** Requests every run whose period begins then or later, too. */
  readonly since: Date | undefined;
}

export interface Peek {
  readonly now: Date;
  /** The requested run, the runs that are due or running, and those since `since`: each once, in no order. */
  readonly runs: readonly RunSummary[];
  /**
   * No period that begins before this instant counts as missed. If a run with a `purged` event was found since
   * `since`, this is the start of the newest such run's period. Otherwise it is the start of the earliest recorded
   * period of the job and scope.
   */
  readonly firstPeriodStart: Date | undefined;
}

export interface PurgeRequest {
  /** Deletes only runs whose period ended longer ago than this, and that were last written longer ago. */
  readonly olderThanMs: number;
  /** Deletes only runs of older ticks than the newest so many, of jobs and scopes whose newest run is that of a tick. */
  readonly keptTicks?: number | undefined;
  readonly limit: number;
  /** `next` of the previous step. Left out for the first step. */
  readonly from?: unknown;
}

export interface PurgeStep {
  readonly deleted: number;
  /** Where the next step continues, for the same store only. `undefined` if no run is left to check. */
  readonly next?: unknown;
}

export interface RunQuery {
  readonly job?: string | undefined;
  readonly scope?: string | undefined;
  readonly periodKey?: string | undefined;
  readonly states?: readonly RunState[] | undefined;
  /** The start of the period: from `from` on, before `to`. Runs of custom keys have none, and are left out. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly order: 'newest-first' | 'oldest-first';
  readonly limit: number;
}

export interface SummaryQuery {
  /** The runs of these jobs, at most 10,000. */
  readonly jobs: readonly string[];
  /** The start of the period: from `from` on, before `to`. Runs of custom keys have none, and are left out. */
  readonly from: Date;
  readonly to: Date;
  readonly limit: number;
}

export type OverdueScope = Pick<RunKey, 'job' | 'scope'>;

/**
 * A store of runs, of cronlatch itself: in a database, or in memory. Each method is one atomic step, committed when its
 * promise resolves, outside any transaction of the caller. It settles within its time limit. On failure it rejects with a
 * `LockStorageError` whose `outcome` reports what is known: `contention` means that another transaction was in the way
 * and nothing was written.
 *
 * Names and keys are compared byte for byte. Instants come from the store's clock, with a precision of at least a
 * millisecond.
 */
export interface RunStore {
  /** One plain read. */
  peek(request: PeekRequest, options: StatementOptions): Promise<Peek>;
  /** One plain read, with each job and scope once, at most 1,000. The one that has waited longest comes first. */
  overdue(jobs: readonly string[], options: StatementOptions): Promise<readonly OverdueScope[]>;
  /** @returns `false` if there is a row of that key: nothing was written */
  insert(run: NewRun, options: StatementOptions): Promise<boolean>;
  /**
   * Locks the row, calls `decide` with it, writes the decision and commits. It waits for other writers of the row, so
   * that it sees every write that was sent before it.
   *
   * @param decide synchronous and without effects. It gets `undefined` if there is no row, and then nothing is
   *   written.
   */
  change<T>(
    key: RunKey,
    decide: (found: FoundRun | undefined) => Decision<T>,
    options: StatementOptions,
  ): Promise<T>;
  /** Completes the run by one conditional write. Returns `false` if its row is not running under exactly this claim. */
  complete(claim: Claim, result: string | undefined, options: StatementOptions): Promise<boolean>;
  /** Ordered by the start of the period, or by the time of creation for a run without one. */
  find(query: RunQuery, options: StatementOptions): Promise<readonly Run[]>;
  /**
   * One plain read, for an overview: the run of the newest period of each job and scope, and all runs that are running or
   * interrupted, in no order. Of a job and scope without periods, the newest run. At most 10,000 runs, each with at most the
   * first 500 characters of its error.
   */
  latest(options: StatementOptions): Promise<readonly LatestRun[]>;
  /** One plain read, for an overview: runs without their results and errors, the newest period first. */
  summaries(query: SummaryQuery, options: StatementOptions): Promise<readonly RunSummary[]>;
  /**
   * One grouped plain read, for an overview of jobs that run per tick: at most 50,000 groups, the newest first. Time zones
   * have offsets in quarters of an hour, so the quarters add up to the days of any of them.
   */
  counts(query: Omit<SummaryQuery, 'limit'>, options: StatementOptions): Promise<readonly RunCount[]>;
  /** Of each job, the runs whose period begins at its instant or later, in no order. At most 100,000. */
  since(starts: ReadonlyMap<string, Date>, options: StatementOptions): Promise<readonly RunSummary[]>;
  /** The oldest first. */
  events(key: RunKey, options: StatementOptions): Promise<readonly RunEvent[]>;
  /**
   * One step of a purge. It deletes runs that have ended (completed, skipped, or failed permanently), with their
   * events. Of each job and scope, two runs always stay: the run of the newest period, and the newest run without a
   * period. A run that another transaction has locked stays until the next purge.
   *
   * The same transaction adds a `purged` event to the first remaining run after the deleted ones, by the start of the
   * period, so that no deleted period ever counts as missed. A tick never does, so it leaves no such event. A step that
   * fails has deleted nothing: send it again.
   */
  purge(request: PurgeRequest, options: StatementOptions): Promise<PurgeStep>;
  /**
   * Registers jobs, so that any process can list them, with one statement for all. For a job that is registered
   * again, `declaredSince` decides since when it is declared as it is.
   *
   * @param jobs each job at most once
   * @throws SchemaMismatchError if the table of the register is missing or cannot be used
   */
  registerJobs(jobs: readonly JobRegistration[], options: StatementOptions): Promise<void>;
  jobs(options: StatementOptions): Promise<JobRegister>;
  /** Writes answers that are newer, with one statement, each job at most once. Those of unregistered jobs have no effect. */
  answerJobs(answers: readonly JobAnswer[], options: StatementOptions): Promise<void>;
  /** Removes a job, but not its runs, unless it was registered within `idleMs`. `false`: nothing was removed. */
  forgetJob(job: string, idleMs: number, options: StatementOptions): Promise<boolean>;
  /** What operators did, and their requests to run jobs. Without it, a guard keeps no acts, and runs no job by request. */
  readonly acts?: ActStore | undefined;
  /** Without it, a guard sends no notices. */
  readonly notices?: ActStore | undefined;
  /** What runs print. Without it, a guard refuses `keepLog`, and `progress()` has no effect. */
  readonly logs?: RunLogStore | undefined;
  /** @throws SchemaMismatchError if the tables are missing or cannot keep runs; the message names the fix */
  check(): Promise<void>;
}
