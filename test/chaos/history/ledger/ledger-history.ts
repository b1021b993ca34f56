import type { Run, SkipReason, TaskResult } from 'cronlatch';
import type { Claim } from 'cronlatch/provider';

/** A job as all hosts have it. */
export interface KnownJob {
  readonly job: string;
  readonly lockName: string;
  readonly maxAttempts: number;
  readonly onCrash: 'retry' | 'hold';
  /** It is not tried again for ever, whatever its attempts. */
  readonly hasUntil: boolean;
  /** Where its periods have a beginning and an end: the one in which an instant lies. */
  readonly periodAt: ((at: Date) => { readonly key: string; readonly end: Date }) | undefined;
  /** Periods that nobody has answered for are brought back without a tick. */
  readonly catchesUp: boolean;
}

/** What was sent to change runs. `unknown`: it may have taken effect, or not, or may still do so. */
export interface RunStatement {
  readonly host: number;
  readonly statement: 'insert' | 'change' | 'complete';
  /** In whose name, where the statement says it. */
  readonly claimedBy: string | undefined;
  readonly order: number;
  outcome: 'ok' | 'fail' | 'unknown';
}

/** What became of a row, as a log of the database tells it. */
export interface RowChange {
  readonly key: string;
  readonly job: string;
  /** `undefined`: an operator has deleted the row. */
  readonly by: RunStatement | undefined;
  readonly before: Run | undefined;
  readonly after: Run | undefined;
  readonly atMs: number;
  readonly order: number;
}

/** One attempt from inside. */
export interface HandlerRun {
  readonly host: number;
  readonly key: string;
  readonly claim: Claim;
  readonly beganAtMs: number;
  readonly beganOrder: number;
  ending: 'returned' | 'threw' | 'given-back' | 'skipped' | undefined;
  error: unknown;
}

/** A handler has called its own job, and that ran as a part of its attempt. */
export interface InnerRun {
  readonly host: number;
  readonly key: string;
  readonly claim: Claim;
  readonly atMs: number;
}

/** One tick, and what its caller was told. */
export interface Call {
  readonly host: number;
  readonly job: string;
  readonly scope: string;
  readonly scheduledAt: Date | undefined;
  readonly invokedAtMs: number;
  /** Its own attempt, if one was begun. */
  run: HandlerRun | undefined;
  told:
    | { readonly order: number; readonly result: TaskResult<unknown> }
    | { readonly order: number; readonly error: unknown }
    | undefined;
}

/** An event that tells of a run. */
export interface ToldRun {
  readonly host: number;
  readonly event: 'run:completed' | 'run:failed' | 'run:skipped';
  readonly key: string;
  readonly generation: number;
  readonly attempt: number;
  readonly reason: SkipReason | 'given-back' | undefined;
  readonly retryAt: Date | undefined;
  readonly order: number;
}

/** A guard that was closed while nothing was abandoned. */
export interface Closing {
  readonly host: number;
  readonly order: number;
}

/** All that happened to runs. What happened to locks and hosts is the other history's, with which it shares its order. */
export class LedgerHistory {
  readonly jobs = new Map<string, KnownJob>();
  readonly statements: RunStatement[] = [];
  readonly changes: RowChange[] = [];
  readonly handlerRuns: HandlerRun[] = [];
  readonly innerRuns: InnerRun[] = [];
  readonly calls: Call[] = [];
  readonly told: ToldRun[] = [];
  readonly closings: Closing[] = [];
  /** The deletions of completed runs by a purge; they are among the changes. */
  readonly purged: RowChange[] = [];
  /** When somebody has set the database's clock. */
  readonly clockSets: { readonly atMs: number; readonly byMs: number }[] = [];
  /** The locks exclude nobody: what runs promise holds all the same. */
  locksAreNone = false;
  /** No host's wall clock was off by more than a job allows. */
  wallClocksAreRight = false;
  /** The hosts that are left when nothing goes wrong any more, all of which look for what is owed. */
  survivors: readonly number[] = [];
  /** When the history ends at the latest, by a clock that is right. */
  endsAt = new Date(0);

  changesOf(key: string): readonly RowChange[] {
    return this.changes.filter((change) => change.key === key);
  }

  /** What stood in the row before `order`. */
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
