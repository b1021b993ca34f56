import type { RunIdentity } from '../core';
import type { RunState } from './run-state';

/** Names a run: a job, a part of it, and a period. There is one row at most for each. */
export interface RunKey {
  readonly job: string;
  /** Empty for a job that is not divided into tenants, regions and the like. */
  readonly scope: string;
  readonly periodKey: string;
}

/** What a period is called, and where it lies. */
export interface RunPeriod {
  /** `undefined`, like the end, for custom keys. */
  readonly periodStart: Date | undefined;
  readonly periodEnd: Date | undefined;
  readonly timeZone: string | undefined;
}

/** What may be told of a run from its row without its result and its error. All instants are the database's. */
export interface RunSummary extends RunKey, RunPeriod {
  readonly state: RunState;
  /** How often an operator has had it run again. */
  readonly generation: number;
  /** Of this generation: 0 before the first attempt. */
  readonly attempt: number;
  /** When a pending or failed run is due; `undefined`: not again. */
  readonly nextAttemptAt: Date | undefined;
  /** Unique for each attempt. Stays when the attempt is over. */
  readonly claimedBy: string | undefined;
  /** Which lock the attempt was started under. */
  readonly lockId: string | undefined;
  readonly fencingToken: number | undefined;
  /** When the attempt's lease has surely ended, renewals included. */
  readonly leaseUntil: Date | undefined;
  /** Of this generation. */
  readonly firstStartedAt: Date | undefined;
  /** Of the last attempt. */
  readonly startedAt: Date | undefined;
  readonly finishedAt: Date | undefined;
  readonly reason: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface Run extends RunSummary {
  /** What the handler returned, as JSON; cut, with a mark, where it was longer than 64 KiB. */
  readonly result: string | undefined;
  /** Of the last attempt that failed; cut, with a mark, where it was longer than 8 KiB. */
  readonly error: string | undefined;
}

/**
 * What the row cannot keep: an attempt that failed, was lost or was replaced, and every operator's act. `'purged'` marks
 * the run after the last one that a purge deleted.
 */
export type RunEventKind =
  'failed' | 'lost' | 'completed-late' | 'given-back' | 'rerun' | 'resolved' | 'skipped' | 'purged';

export interface RunEvent {
  readonly at: Date;
  readonly generation: number;
  readonly attempt: number;
  readonly kind: RunEventKind;
  /** Whoever held the claim, or the operator. At most 255 characters. */
  readonly actor: string;
  readonly fencingToken: number | undefined;
  readonly detail: string | undefined;
}

/** One attempt, as its holder knows it. */
export interface Claim extends RunKey {
  readonly generation: number;
  readonly attempt: number;
  readonly claimedBy: string;
}

/** Whether a run is due, or running by its row: then its holder may have crashed. */
export function isOverdue({ state, nextAttemptAt }: RunSummary, now: Date): boolean {
  switch (state) {
    case 'running':
      return true;
    case 'pending':
    case 'failed':
      return nextAttemptAt !== undefined && nextAttemptAt <= now;
    case 'completed':
    case 'interrupted':
    case 'skipped':
      return false;
  }
}

/** Names a run in messages. */
export function describeRun({ job, scope, periodKey }: RunKey): string {
  return `the run of job '${job}'${scope === '' ? '' : ` (${scope})`} for ${periodKey}`;
}

/** The part of a run that events carry. */
export function identityOf({ job, scope, periodKey, generation, attempt }: RunIdentity): RunIdentity {
  return { job, scope, periodKey, generation, attempt };
}
