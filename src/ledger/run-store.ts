import type { StatementOptions } from '../core';
import type { Claim, Run, RunEvent, RunKey, RunPeriod, RunSummary } from './run';
import type { RunState } from './run-state';

/** A row as it is made. Its `createdAt`, `updatedAt` and what counts from now are the store's. */
export interface NewRun extends RunKey, RunPeriod {
  readonly state: 'running' | 'pending' | 'skipped';
  readonly reason?: string | undefined;
  /** Of a run that is started at once, as attempt 1. A pending one is due from now on. */
  readonly started?:
    | {
        readonly claimedBy: string;
        readonly lockId: string;
        readonly fencingToken: number | undefined;
        readonly leaseMs: number;
      }
    | undefined;
  /** Written along with the row. */
  readonly event?: NewRunEvent | undefined;
}

/** Its `at` is the store's now. */
export type NewRunEvent = Omit<RunEvent, 'at'>;

/** A row under the store's lock. */
export interface FoundRun {
  readonly run: Run;
  readonly now: Date;
}

export interface Decision<T> {
  readonly value: T;
  /** The row as it is to be; its key, period and `createdAt` stay, and `updatedAt` is the store's now. */
  readonly write?: Run | undefined;
  readonly events?: readonly NewRunEvent[] | undefined;
}

export interface PeekRequest {
  readonly job: string;
  readonly scope: string;
  /** The period that is asked about, if one is. */
  readonly periodKey: string | undefined;
  /** Also every run whose period begins then or later. */
  readonly since: Date | undefined;
}

export interface Peek {
  readonly now: Date;
  /** The run that was asked about, those that are due or running, and those since: each once, in no order. */
  readonly runs: readonly RunSummary[];
  /**
   * No period that begins before then counts as missed. It is where the newest period since `since` begins whose run
   * bears a `purged` event; without one, where the earliest recorded period of the job and scope begins.
   */
  readonly firstPeriodStart: Date | undefined;
}

export interface PurgeRequest {
  /** Only runs whose period ended longer ago than this, and which were last written longer ago. */
  readonly olderThanMs: number;
  /** How many runs one step deletes at most. */
  readonly limit: number;
  /** `next` of the previous step. Left out for the first step. */
  readonly from?: unknown;
}

export interface PurgeStep {
  readonly deleted: number;
  /** Where the next step continues, for the same store only. `undefined`: there is nothing left to look at. */
  readonly next?: unknown;
}

export interface RunQuery {
  readonly job?: string | undefined;
  readonly scope?: string | undefined;
  readonly periodKey?: string | undefined;
  readonly states?: readonly RunState[] | undefined;
  /** By the beginning of the period: from `from` on, before `to`. Custom keys have none, and are not among them. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly order: 'newest-first' | 'oldest-first';
  readonly limit: number;
}

/** A job and scope of which a run is due, or runs according to its row. */
export type OverdueScope = Pick<RunKey, 'job' | 'scope'>;

/**
 * A store of runs. Each method is one atomic step, committed when its promise resolves, outside any transaction of the
 * caller, and settles within its time limit. It rejects with a `LockStorageError` whose `outcome` says what is known:
 * `contention` where another transaction was in the way and nothing was written.
 *
 * Names and keys are compared byte for byte. Instants are the store's clock's, kept to the millisecond at least.
 */
export interface RunStore {
  /** Names the place of the runs, equal on all instances that share them. */
  readonly id: string;
  /** One plain read. */
  peek(request: PeekRequest, options: StatementOptions): Promise<Peek>;
  /**
   * One plain read of these jobs. Each job and scope is there once, however many of its runs wait; the one that has waited
   * for the longest time comes first, at most 1,000.
   */
  overdue(jobs: readonly string[], options: StatementOptions): Promise<readonly OverdueScope[]>;
  /** @returns `false` when there is a row of that key: nothing was written */
  insert(run: NewRun, options: StatementOptions): Promise<boolean>;
  /**
   * Locks the row, lets `decide` look at it, writes what it says, and commits. It waits for whoever writes the row, so
   * that it sees every write that was sent before.
   *
   * @param decide synchronous and without effects; `undefined` when there is no row, and then nothing is written
   */
  change<T>(
    key: RunKey,
    decide: (found: FoundRun | undefined) => Decision<T>,
    options: StatementOptions,
  ): Promise<T>;
  /**
   * Completes the run if its row says that it runs, by this very claim: one conditional write.
   *
   * @returns `false` when it does not: nothing was written
   */
  complete(claim: Claim, result: string | undefined, options: StatementOptions): Promise<boolean>;
  /** By the beginning of the period, and by the time of making where there is none. */
  find(query: RunQuery, options: StatementOptions): Promise<readonly Run[]>;
  /** The oldest first. */
  events(key: RunKey, options: StatementOptions): Promise<readonly RunEvent[]>;
  /**
   * One step of a purge. It deletes runs that are over (completed, skipped, or failed permanently), with their events.
   * Of each job and scope, two runs always stay: the run of the newest period, and the newest run without a period. A run
   * that another transaction has locked stays until the next purge.
   *
   * The same transaction adds a `purged` event to the first remaining run behind the deleted ones, by the beginning of
   * the period, so that no deleted period ever counts as missed. A step that fails has deleted nothing: send it again.
   */
  purge(request: PurgeRequest, options: StatementOptions): Promise<PurgeStep>;
  /**
   * Looks at what the store keeps its runs in.
   *
   * @throws SchemaMismatchError when it is missing or cannot keep them; it names the remedy
   */
  check?(): Promise<void>;
  /** Gives up what the store opened by itself. */
  close?(): Promise<void>;
}
