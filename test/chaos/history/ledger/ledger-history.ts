import type { SkipReason, TaskResult } from 'cronlatch';
import type { Run } from 'cronlatch/provider';
import type { Claim } from '#cronlatch/ledger/run';

/** A job as all hosts know it. */
export interface KnownJob {
  readonly job: string;
  readonly lockName: string;
  readonly maxAttempts: number;
  readonly onCrash: 'retry' | 'hold';
  /** Its retries end at some time, regardless of its attempts. */
  readonly hasUntil: boolean;
  /** Returns the period that contains an instant, for periods with a start and an end. */
  readonly periodAt: ((at: Date) => { readonly key: string; readonly end: Date }) | undefined;
  /** Missed periods are run without a tick. */
  readonly catchesUp: boolean;
}

/** A statement that changes runs. `unknown`: it may have taken effect, or not, or may still do so. */
export interface RunStatement {
  readonly host: number;
  readonly statement: 'insert' | 'change' | 'complete';
  /** The claim in whose name it acts, if the statement contains it. */
  readonly claimedBy: string | undefined;
  readonly order: number;
  outcome: 'ok' | 'fail' | 'unknown';
}

/** A change of a row, as in a log of the database. */
export interface RowChange {
  readonly key: string;
  readonly job: string;
  /** `undefined`: an operator deleted the row. */
  readonly by: RunStatement | undefined;
  readonly before: Run | undefined;
  readonly after: Run | undefined;
  readonly atMs: number;
  readonly order: number;
}

/** One attempt, seen by its handler. */
export interface HandlerRun {
  readonly host: number;
  readonly key: string;
  readonly claim: Claim;
  readonly beganAtMs: number;
  readonly beganOrder: number;
  ending: 'returned' | 'threw' | 'given-back' | 'skipped' | undefined;
  error: unknown;
}

/** A handler called its own job, which ran as a part of its attempt. */
export interface InnerRun {
  readonly host: number;
  readonly key: string;
  readonly claim: Claim;
  readonly atMs: number;
}

/** One tick, and the result for its caller. */
export interface Call {
  readonly host: number;
  readonly job: string;
  readonly scope: string;
  readonly scheduledAt: Date | undefined;
  readonly invokedAtMs: number;
  /** Its own attempt, if one started. */
  run: HandlerRun | undefined;
  answer:
    | { readonly order: number; readonly result: TaskResult<unknown> }
    | { readonly order: number; readonly error: unknown }
    | undefined;
}

/** An event about a run. */
export interface ReportedRun {
  readonly host: number;
  readonly event: 'run:completed' | 'run:failed' | 'run:skipped' | 'run:givenBack';
  readonly key: string;
  readonly generation: number;
  readonly attempt: number;
  readonly reason: SkipReason | 'given-back' | undefined;
  readonly retryAt: Date | undefined;
  readonly order: number;
}

/** A guard that closed. */
export interface Closing {
  readonly host: number;
  readonly order: number;
}

/** All events of runs. The other history has those of locks and hosts, and shares its order. */
export class LedgerHistory {
  readonly jobs = new Map<string, KnownJob>();
  readonly statements: RunStatement[] = [];
  readonly changes: RowChange[] = [];
  readonly handlerRuns: HandlerRun[] = [];
  readonly innerRuns: InnerRun[] = [];
  readonly calls: Call[] = [];
  readonly reported: ReportedRun[] = [];
  /** With nothing abandoned: after its end. */
  readonly closings: Closing[] = [];
  /** With handlers abandoned: since its beginning. A guard records nothing of them. */
  readonly abandonments: Closing[] = [];
  /** The deletions of completed runs by a purge, which are also among the changes. */
  readonly purged: RowChange[] = [];
  /** When the database's clock was set. */
  readonly clockSets: { readonly atMs: number; readonly byMs: number }[] = [];
  /** The locks exclude no host: what runs promise must hold nevertheless. */
  locksAreNone = false;
  /** No host's wall clock was wrong by more than a job allows. */
  wallClocksAreRight = false;
  /** The hosts that are left after the last fault, all of which look for overdue runs. */
  survivors: readonly number[] = [];
  /** When the history ends at the latest, by a correct clock. */
  endsAt = new Date(0);

  changesOf(key: string): readonly RowChange[] {
    return this.changes.filter((change) => change.key === key);
  }

  /** The contents of the row before `order`. */
  rowBefore(key: string, order: number): Run | undefined {
    return this.changes.filter((change) => change.key === key && change.order < order).at(-1)?.after;
  }
}

export function keyTextOf({
  job,
  scope,
  periodKey,
}: {
  readonly job: string;
  readonly scope: string;
  readonly periodKey: string;
}): string {
  return `${job}/${scope}/${periodKey}`;
}
