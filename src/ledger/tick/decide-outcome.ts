import { planRetry, type RetryPolicy } from '../policy/retry';
import type { Claim, Run, RunEventKind } from '../run';
import type { Decision, FoundRun, NewRunEvent } from '../run-store';

/** What became of an attempt. */
export type Outcome =
  | { readonly kind: 'completed'; readonly result: string | undefined }
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      readonly errorText: string;
      readonly retry: RetryPolicy;
    }
  | { readonly kind: 'given-back' }
  | { readonly kind: 'skipped'; readonly reason: string };

export type OutcomeVerdict =
  | { readonly kind: 'recorded'; readonly retryAt: Date | undefined }
  /** It stands as completed by this very attempt, whoever wrote it. */
  | { readonly kind: 'completed' }
  /** The row is not this attempt's any more; what stands there now, if anything does. */
  | { readonly kind: 'lost'; readonly run: Run | undefined };

/** What is written of an attempt that is over. Pure: the store locks the row, asks, and writes what is answered. */
export function decideOutcome(
  found: FoundRun | undefined,
  claim: Claim,
  outcome: Outcome,
): Decision<OutcomeVerdict> {
  if (found === undefined) return { value: { kind: 'lost', run: undefined } };
  if (isRecorded(found.run, claim, outcome)) return recorded(found.run, outcome);
  if (!isOurs(found.run, claim)) return lost(found);
  switch (found.run.state) {
    case 'running':
      return decideWhileRunning(found, outcome);
    case 'completed':
      return { value: { kind: 'completed' } };
    case 'interrupted':
      // We had not vanished after all, and nobody can have started since.
      return outcome.kind === 'completed' ? completedLate(found, outcome.result) : lost(found);
    case 'pending':
    case 'failed':
    case 'skipped':
      return lost(found);
  }
}

/** By an earlier call, whose reply was lost. */
function isRecorded(run: Run, claim: Claim, outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'completed':
      return false; // Whoever has written that, the row is completed.
    case 'failed':
      return run.state === 'failed' && run.error === outcome.errorText && isOurs(run, claim);
    case 'given-back':
      return run.state === 'pending' && isOurs({ ...run, attempt: run.attempt + 1 }, claim);
    case 'skipped':
      return run.state === 'skipped' && run.reason === 'job' && isOurs(run, claim);
  }
}

function recorded({ nextAttemptAt }: Run, { kind }: Outcome): Decision<OutcomeVerdict> {
  return { value: { kind: 'recorded', retryAt: kind === 'failed' ? nextAttemptAt : undefined } };
}

function decideWhileRunning(found: FoundRun, outcome: Outcome): Decision<OutcomeVerdict> {
  const { run, now } = found;
  switch (outcome.kind) {
    case 'completed':
      return { value: { kind: 'completed' }, write: completed(found, outcome.result) };
    case 'failed': {
      const { error, errorText, retry } = outcome;
      const { attempt, periodEnd, firstStartedAt = now } = run;
      const plan = planRetry({ attempt, policy: retry, error, now, firstStartedAt, periodEnd });
      const retryAt = 'retryAt' in plan ? plan.retryAt : undefined;
      const reason = 'finalReason' in plan ? plan.finalReason : undefined;
      return {
        value: { kind: 'recorded', retryAt },
        write: { ...over(found, 'failed'), reason, nextAttemptAt: retryAt, error: errorText },
        events: [attemptEventOf(run, 'failed', errorText)],
      };
    }
    case 'given-back': {
      const attempt = Math.max(0, run.attempt - 1);
      const firstStartedAt = attempt === 0 ? undefined : run.firstStartedAt;
      return {
        value: { kind: 'recorded', retryAt: undefined },
        write: { ...over(found, 'pending'), attempt, firstStartedAt, nextAttemptAt: now },
        events: [attemptEventOf(run, 'given-back', undefined)],
      };
    }
    case 'skipped':
      return {
        value: { kind: 'recorded', retryAt: undefined },
        write: { ...over(found, 'skipped'), reason: 'job' },
        events: [attemptEventOf(run, 'skipped', outcome.reason)],
      };
  }
}

function completedLate(found: FoundRun, result: string | undefined): Decision<OutcomeVerdict> {
  return {
    value: { kind: 'completed' },
    write: completed(found, result),
    events: [attemptEventOf(found.run, 'completed-late', undefined)],
  };
}

function completed(found: FoundRun, result: string | undefined): Run {
  return { ...over(found, 'completed'), result, error: undefined };
}

function over({ run, now }: FoundRun, state: Run['state']): Run {
  return { ...run, state, finishedAt: now, nextAttemptAt: undefined, reason: undefined };
}

function lost({ run }: FoundRun): Decision<OutcomeVerdict> {
  return { value: { kind: 'lost', run } };
}

export function isOurs(run: Run, { generation, attempt, claimedBy }: Claim): boolean {
  return run.generation === generation && run.attempt === attempt && run.claimedBy === claimedBy;
}

function attemptEventOf(run: Run, kind: RunEventKind, detail: string | undefined): NewRunEvent {
  const { generation, attempt, fencingToken, claimedBy } = run;
  return { generation, attempt, kind, actor: claimedBy ?? 'unknown', fencingToken, detail };
}
