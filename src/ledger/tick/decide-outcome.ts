import { planRetry, type RetryPolicy } from '../policy/retry';
import { madeUpMark, type Claim, type Run } from '../run';
import { runEventOf, type Decision, type FoundRun } from '../run-store';

export type Outcome =
  | { readonly kind: 'completed'; readonly result: string | undefined }
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      readonly errorText: string;
      readonly retry: RetryPolicy;
    }
  /** `isStopped`: the closing guard has stopped the handler. Otherwise, the handler has done nothing yet. */
  | { readonly kind: 'given-back'; readonly isStopped?: boolean }
  | { readonly kind: 'skipped'; readonly reason: string };

export type OutcomeVerdict =
  | { readonly kind: 'recorded'; readonly retryAt: Date | undefined }
  /** The row shows this attempt as completed, by whichever statement. */
  | { readonly kind: 'completed' }
  /** The row no longer belongs to this attempt. `run` is its current content, if it still exists. */
  | { readonly kind: 'lost'; readonly run: Run | undefined };

/** Decides how to record the outcome of an attempt. Pure, for `RunStore.change`. */
export function decideOutcome(
  found: FoundRun | undefined,
  claim: Claim,
  outcome: Outcome,
): Decision<OutcomeVerdict> {
  const lost = { value: { kind: 'lost', run: found?.run } } as const;
  if (found === undefined) return lost;
  const { run } = found;
  if (isRecorded(run, claim, outcome)) {
    const retryAt = outcome.kind === 'failed' ? run.nextAttemptAt : undefined;
    return { value: { kind: 'recorded', retryAt } };
  }
  if (!isOurs(run, claim)) return lost;
  switch (run.state) {
    case 'running':
      return decideWhileRunning(found, outcome);
    case 'completed':
      return { value: { kind: 'completed' } };
    case 'interrupted':
      if (outcome.kind !== 'completed') return lost;
      // This holder had not crashed after all, and no other holder can have started the run since.
      return { ...decideWhileRunning(found, outcome), events: [runEventOf(run, 'completed-late')] };
    case 'pending':
    case 'failed':
    case 'skipped':
      return lost;
  }
}

/** Whether an earlier call, whose reply was lost, has recorded the outcome. */
function isRecorded(run: Run, claim: Claim, outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'completed':
      return false; // The row is completed, whichever call wrote it.
    case 'failed':
      return run.state === 'failed' && run.error === outcome.errorText && isOurs(run, claim);
    case 'given-back':
      return run.state === 'pending' && isOurs({ ...run, attempt: run.attempt + 1 }, claim);
    case 'skipped':
      return run.state === 'skipped' && run.reason === 'job' && isOurs(run, claim);
  }
}

function decideWhileRunning(found: FoundRun, outcome: Outcome): Decision<OutcomeVerdict> {
  const { run, now } = found;
  switch (outcome.kind) {
    case 'completed':
      return {
        value: { kind: 'completed' },
        write: { ...endRun(found, 'completed'), result: outcome.result, error: undefined },
      };
    case 'failed': {
      const { error, errorText, retry } = outcome;
      const { retryAt, finalReason: reason = madeUpMark(run) } = planRetry(run, error, retry, now);
      return {
        value: { kind: 'recorded', retryAt },
        write: { ...endRun(found, 'failed'), reason, nextAttemptAt: retryAt, error: errorText },
        events: [runEventOf(run, 'failed', errorText)],
      };
    }
    case 'given-back': {
      const attempt = Math.max(0, run.attempt - 1);
      const isFirstStart = attempt === 0 && run.firstStartedAt?.getTime() === run.startedAt?.getTime();
      const firstStartedAt = isFirstStart && !outcome.isStopped ? undefined : run.firstStartedAt;
      return {
        value: { kind: 'recorded', retryAt: undefined },
        write: { ...endRun(found, 'pending'), attempt, firstStartedAt, nextAttemptAt: now },
        events: [runEventOf(run, 'given-back')],
      };
    }
    case 'skipped':
      return {
        value: { kind: 'recorded', retryAt: undefined },
        write: { ...endRun(found, 'skipped'), reason: 'job' },
        events: [runEventOf(run, 'skipped', outcome.reason)],
      };
  }
}

function endRun({ run, now }: FoundRun, state: Run['state']): Run {
  return { ...run, state, finishedAt: now, nextAttemptAt: undefined, reason: madeUpMark(run) };
}

export function isOurs(run: Run, { generation, attempt, claimedBy }: Claim): boolean {
  return run.generation === generation && run.attempt === attempt && run.claimedBy === claimedBy;
}

/**
 * Whether the row is older than the claim, or missing: during the lease, a lagging server may have answered. No state
 * follows `completed` and `skipped` without an operator, who then raises the generation.
 */
export function precedes(run: Run | undefined, { generation, attempt, claimedBy }: Claim): boolean {
  if (run === undefined) return true;
  if (run.generation !== generation) return run.generation < generation;
  if (run.state === 'completed' || run.state === 'skipped') return false;
  return run.claimedBy !== claimedBy && run.attempt <= attempt;
}
