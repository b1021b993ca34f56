import { ClaimLostError, type HeldLock, type Lock, type LockedTask } from '../../core';
import { refuseUnawaitable } from '../../core/execution/handler-result';
import type { WhatFollows } from '../../core/execution/locking-task-executor';
import { afterExtensions } from '../../core/execution/run-lock';
import { describeRun } from './claim-run';
import type { Outcome } from './decide-outcome';
import type { JobPolicy } from '../policy/job-policy';
import { keptResult } from './kept-result';
import { LeaseInRow } from './lease-in-row';
import type { LedgerContext } from '../ledger-context';
import { claimLost, isCompletedBy, recordOutcome, type Patience } from './record-outcome';
import { identityOf } from '../run';
import { runAs, type RunContext } from './run-context';
import { storedError } from './stored-text';

export interface Attempt<T> {
  readonly held: HeldLock;
  readonly task: LockedTask<T>;
  readonly run: RunContext;
  readonly policy: JobPolicy;
  /** Monotonic: the row holds this end of the lease, or a later one. */
  readonly leaseUntilMs: number;
  /** Aborted when a guard that closes does not wait for it any more: the store may be closed, too. */
  readonly ended: Pick<AbortSignal, 'aborted'>;
}

/**
 * Runs the handler of a run that was claimed, and records what became of it before anybody hears of it.
 *
 * @throws ClaimLostError when the row says at the end that the attempt does not count
 * @throws LockStorageError when the end could not be recorded
 * @throws whatever the task throws, unchanged
 */
export async function runAttempt<T>(
  context: LedgerContext,
  { held, task, run, policy, leaseUntilMs, ended }: Attempt<T>,
): Promise<T> {
  let following: WhatFollows = {};
  const patience = (): Patience => ({ remainingMs: run.remainingMs(), ended });
  const record = async (outcome: Outcome): Promise<void> => {
    const { claim } = run;
    const verdict = await recordOutcome(context, claim, outcome, patience());
    if (verdict.kind === 'lost') throw claimLost(claim, verdict.run);
    if (verdict.kind !== 'recorded' || outcome.kind !== 'failed') return;
    const { retryAt } = verdict;
    following = retryAt === undefined ? { isGivenUp: true } : { retryAt };
  };
  const warn = (message: string, error: unknown): void =>
    context.events.emit('guard:warning', { message, error });

  const recorded = async (lock: Lock): Promise<T> => {
    let value: T;
    try {
      const result: unknown = await runAs(run, () => task(lock));
      refuseUnawaitable(lock.name, result);
      value = result as T;
    } catch (error) {
      run.settle();
      await recordFailure(error);
      throw error;
    }
    run.settle();
    await recordEnd(value);
    return value;
  };

  /** The job's own error is the one that is told. */
  const recordFailure = async (error: unknown): Promise<void> => {
    if (run.completion === 'committed') return;
    try {
      const { retry } = policy;
      await record(run.decided ?? { kind: 'failed', error, errorText: storedError(error), retry });
    } catch (notRecorded) {
      warn(`What became of ${describeRun(run.claim)} could not be recorded.`, notRecorded);
    }
  };

  /** The transaction is the job's own: whether it was committed, the row knows. */
  const confirm = async (): Promise<void> => {
    if (await isCompletedBy(context, run.claim, patience())) return;
    const error = new ClaimLostError(
      `The transaction in which ${describeRun(run.claim)} was completed has not been committed: the attempt counts as failed.`,
    );
    await recordFailure(error);
    throw error;
  };

  const recordEnd = async (value: T): Promise<void> => {
    switch (run.completion) {
      case 'committed':
        return;
      case 'sent':
        await confirm();
        return;
      case 'open': {
        const result = keptResult(context, run.claim, value);
        await record(run.decided ?? { kind: 'completed', result });
      }
    }
  };

  const lease = new LeaseInRow(context, run, leaseUntilMs);
  const stopCovering = afterExtensions(held.lock, (lock) => lease.cover(lock));
  try {
    return await held.execute(recorded, {
      run: identityOf(run),
      skipped: () => run.decided?.kind,
      whatFollows: () => following,
    });
  } finally {
    stopCovering();
  }
}
