import { planRetry, type RetryPolicy } from '../policy/retry';
import type { Claim, Run } from '../run';
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
  if (found === undefined) return { value: { kind: 'lost', run: undefined } };
  if (isRecorded(found.run, claim, outcome)) return recordedVerdict(found.run, outcome);
  if (!isOurs(found.run, claim)) return lostVerdict(found);
  switch (found.run.state) {
    case 'running':
      return decideWhileRunning(found, outcome);
    case 'completed':
      return { value: { kind: 'completed' } };
    case 'interrupted':
      // This holder had not crashed after all, and no other holder can have started the run since.
      return outcome.kind === 'completed' ? completeLate(found, outcome.result) : lostVerdict(found);
    case 'pending':
    case 'failed':
    case 'skipped':
      return lostVerdict(found);
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

function recordedVerdict({ nextAttemptAt }: Run, { kind }: Outcome): Decision<OutcomeVerdict> {
  return { value: { kind: 'recorded', retryAt: kind === 'failed' ? nextAttemptAt : undefined } };
}

function decideWhileRunning(found: FoundRun, outcome: Outcome): Decision<OutcomeVerdict> {
  const { run, now } = found;
  switch (outcome.kind) {
    case 'completed':
      return { value: { kind: 'completed' }, write: completeRun(found, outcome.result) };
    case 'failed': {
      const { error, errorText, retry } = outcome;
      const { attempt, periodEnd, firstStartedAt = now } = run;
      const failed = { attempt, policy: retry, error, now, firstStartedAt, periodEnd };
      const { retryAt, finalReason: reason } = planRetry(failed);
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

function completeLate(found: FoundRun, result: string | undefined): Decision<OutcomeVerdict> {
  return {
    value: { kind: 'completed' },
    write: completeRun(found, result),
    events: [runEventOf(found.run, 'completed-late')],
  };
}

function completeRun(found: FoundRun, result: string | undefined): Run {
  return { ...endRun(found, 'completed'), result, error: undefined };
}

function endRun({ run, now }: FoundRun, state: Run['state']): Run {
  return { ...run, state, finishedAt: now, nextAttemptAt: undefined, reason: undefined };
}

function lostVerdict({ run }: FoundRun): Decision<OutcomeVerdict> {
  return { value: { kind: 'lost', run } };
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
