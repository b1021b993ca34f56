import { ClaimLostError, type HeldLock, type Lock, type LockedTask } from '../../core';
import { refuseUnawaitable } from '../../core/execution/task-result';
import type { FailureDetails } from '../../core/execution/locking-task-executor';
import { afterExtensions } from '../../core/execution/run-registry';
import { limitOf, type LedgerContext } from '../store-statements';
import type { JobPolicy } from '../policy/job-policy';
import { describeRun, identityOf } from '../run';
import type { Decision, FoundRun } from '../run-store';
import { isOurs, type Outcome } from './decide-outcome';
import { claimLost, isCompletedBy, keptResult, recordOutcome, type Patience } from './record-outcome';
import { runAs, type RunContext } from './run-context';
import { storedError } from './stored-text';

export interface Attempt<T> {
  readonly held: HeldLock;
  readonly task: LockedTask<T>;
  readonly run: RunContext;
  readonly policy: JobPolicy;
  /** Monotonic: the row holds this end of the lease, or a later one. */
  readonly leaseUntilMs: number;
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
  { held, task, run, policy, leaseUntilMs }: Attempt<T>,
): Promise<T> {
  let following: FailureDetails = {};
  const { abandonedSignal } = held;
  const patience = (): Patience => ({ remainingMs: run.remainingMs(), abandonedSignal });
  const record = async (outcome: Outcome): Promise<void> => {
    const { claim } = run;
    const verdict = await recordOutcome(context, claim, outcome, patience());
    if (verdict.kind === 'lost') throw claimLost(claim, verdict.run);
    if (verdict.kind !== 'recorded' || outcome.kind !== 'failed') return;
    const { retryAt } = verdict;
    following = retryAt === undefined ? { isFinal: true } : { retryAt };
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
      skipReason: () => run.decided?.kind,
      failureDetails: () => following,
    });
  } finally {
    stopCovering();
  }
}

/**
 * The end of the lease that the row of a run holds. Under another lock, nothing else shows that the run still goes on,
 * so that an extension by the handler has to move it.
 */
class LeaseInRow {
  #untilMs: number;

  /** @param untilMs monotonic: the row holds this end, or a later one */
  constructor(
    private readonly context: LedgerContext,
    private readonly run: RunContext,
    untilMs: number,
  ) {
    this.#untilMs = untilMs;
  }

  /** Never rejects: the extension of the lock itself holds. */
  async cover(lock: Lock): Promise<void> {
    const { run, context } = this;
    const remainingMs = Math.ceil(lock.remainingMs());
    const untilMs = context.clock.monotonicMs() + remainingMs;
    if (untilMs <= this.#untilMs || run.completion === 'committed') return;
    try {
      // A transaction that began before such a write could not complete the run: PostgreSQL 40001, MariaDB 1020.
      if (run.completion === 'sent') throw new Error('a transaction that is open is to complete the run');
      const move = (found: FoundRun | undefined): Decision<boolean> => prolonged(found, run, remainingMs);
      if (!(await context.store.change(run.claim, move, limitOf(context))))
        throw new Error('the row is no longer that of this attempt');
      this.#untilMs = untilMs;
    } catch (error) {
      const message = `The extension of lock '${lock.name}' is not in the row of ${describeRun(run.claim)}. If the lock is renamed or moved before the run ends, another instance can take the run over.`;
      context.events.emit('guard:warning', { message, error });
    }
  }
}

/** A little too late is safe: the store's now is that of the statement, and the length was measured before. */
function prolonged(
  found: FoundRun | undefined,
  { claim }: RunContext,
  remainingMs: number,
): Decision<boolean> {
  if (found === undefined || found.run.state !== 'running' || !isOurs(found.run, claim))
    return { value: false };
  const { run, now } = found;
  const leaseUntil = new Date(now.getTime() + remainingMs + 1);
  const isCovered = run.leaseUntil !== undefined && run.leaseUntil >= leaseUntil;
  return isCovered ? { value: true } : { value: true, write: { ...run, leaseUntil } };
}
