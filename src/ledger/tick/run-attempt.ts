import { ClaimLostError, FatalJobError, type HeldLock, type Lock, type LockedTask } from '../../core';
import { withinLimit } from '../../core/clock';
import type { CallReport } from '../../core/execution/event-hub';
import { LONGEST_WAIT_FOR_RELEASE_MS, refuseUnawaitable } from '../../core/execution/locking-task-executor';
import { afterExtensions, isStop } from '../../core/execution/run-registry';
import { limitOf, type LedgerContext } from '../store-statements';
import type { JobPolicy } from '../policy/job-policy';
import { describeRun, identityOf, type Claim } from '../run';
import type { Decision, FoundRun } from '../run-store';
import { isOurs, type Outcome, type OutcomeVerdict } from './decide-outcome';
import {
  claimLostError,
  isCompletedBy,
  isContradicted,
  recordAgain,
  serializeResult,
  recordOutcome,
  type RecordingLimits,
} from './record-outcome';
import { runAs, type RunContext } from './run-context';
import { storedError } from './stored-text';

export class Attempt<T> {
  constructor(
    private readonly context: LedgerContext,
    private readonly options: {
      readonly held: HeldLock;
      readonly task: LockedTask<T>;
      readonly run: RunContext;
      readonly policy: JobPolicy;
      readonly report: CallReport;
    },
    /** Monotonic: the end of the lease in the row, or an earlier time. */
    private leaseUntilMs: number,
  ) {}

  /**
   * Runs the handler, and records the outcome before the caller gets it.
   *
   * @throws ClaimLostError if the row shows at the end that the attempt no longer counts
   * @throws LockStorageError if the outcome could not be recorded
   * @throws the task's own error, unchanged
   */
  async run(): Promise<T> {
    const { held, run, report } = this.options;
    const stopRecording = afterExtensions(held.lock, (lock) => this.#recordExtension(lock));
    try {
      return await held.execute((lock) => this.#runAndRecord(lock), {
        run: identityOf(run),
        businessDate: run.businessDate,
        report,
      });
    } finally {
      stopRecording();
    }
  }

  async #runAndRecord(lock: Lock): Promise<T> {
    const { run, task, report } = this.options;
    let value: T;
    try {
      const result: unknown = await runAs(run, () => task(lock));
      refuseUnawaitable(lock.name, result);
      value = result as T;
    } catch (error) {
      run.settle();
      const { refusal } = run;
      await this.#recordFailure(refusal ? new FatalJobError(refusal.message, { cause: error }) : error);
      throw error;
    }
    run.settle();
    await this.#recordEnd(value);
    report.reason = run.decided?.kind;
    return value;
  }

  /** The caller gets the job's own error, not that of the recording. */
  async #recordFailure(error: unknown): Promise<void> {
    const { held, run, policy } = this.options;
    if (run.completion === 'committed') return;
    try {
      const { retry, onCrash } = policy;
      // With 'hold', its work must not be repeated without an operator.
      const isStopped = onCrash === 'retry' && isStop(held.lock, error) && run.decided?.kind !== 'skipped';
      if (isStopped) await this.#record({ kind: 'given-back', isStopped });
      else await this.#record(run.decided ?? { kind: 'failed', error, errorText: storedError(error), retry });
    } catch (notRecorded) {
      this.#warnNotRecorded(notRecorded);
    }
  }

  async #recordEnd(value: T): Promise<void> {
    const { run } = this.options;
    switch (run.completion) {
      case 'committed':
        return;
      case 'sent':
        await this.#confirmCommit();
        return;
      case 'open': {
        const result = serializeResult(this.context, run.claim, value);
        await this.#record(run.decided ?? { kind: 'completed', result });
      }
    }
  }

  /** The transaction belongs to the job: only the row shows whether it was committed. */
  async #confirmCommit(): Promise<void> {
    const { claim } = this.options.run;
    if (await isCompletedBy(this.context, claim, this.#limits)) return;
    const error = new ClaimLostError(
      `The transaction that completed ${describeRun(claim)} was not committed, so the attempt counts as failed.`,
    );
    await this.#recordFailure(error);
    throw error;
  }

  async #record(outcome: Outcome): Promise<void> {
    const { run, report } = this.options;
    let verdict = await recordOutcome(this.context, run.claim, outcome, this.#limits);
    if (isContradicted(verdict, run.claim) && run.remainingMs() > 0)
      verdict = await this.#settle(outcome, verdict);
    if (verdict.kind === 'lost') throw claimLostError(run.claim, verdict.run);
    if (verdict.kind !== 'recorded') return;
    const { retryAt } = verdict;
    if (outcome.kind === 'failed') report.failure = retryAt === undefined ? { isFinal: true } : { retryAt };
    else if (outcome.kind === 'given-back' && outcome.isStopped) report.reason = outcome.kind;
  }

  /** After 10 s, the caller gets an error, and the lock is kept until the outcome is settled. */
  async #settle(outcome: Outcome, contradicted: OutcomeVerdict): Promise<OutcomeVerdict> {
    const { held, run } = this.options;
    const settling = recordAgain(this.context, run.claim, outcome, this.#limits);
    const verdict = await withinLimit(this.context.clock, settling, LONGEST_WAIT_FOR_RELEASE_MS);
    if (verdict !== 'time-out') return verdict;
    const report = ({ kind }: OutcomeVerdict): void => {
      if (kind !== 'lost')
        this.context.events.warn(`The outcome of ${describeRun(run.claim)} was recorded late.`);
    };
    held.keepUntil(settling.then(report).catch((error: unknown) => this.#warnNotRecorded(error)));
    return contradicted;
  }

  /**
   * Under another lock, only the row shows that the run is still going on, so an extension by the handler has to update
   * it. Never rejects, because the extension of the lock itself holds.
   */
  async #recordExtension(lock: Lock): Promise<void> {
    const { context } = this;
    const { run } = this.options;
    const remainingMs = Math.ceil(lock.remainingMs());
    const untilMs = context.clock.monotonicMs() + remainingMs;
    if (untilMs <= this.leaseUntilMs || run.completion === 'committed') return;
    try {
      // A transaction that began before this write could not complete the run: PostgreSQL 40001, MariaDB 1020.
      if (run.completion === 'sent') throw new Error('an open transaction is about to complete the run');
      const move = (found: FoundRun | undefined): Decision<boolean> =>
        decideExtension(found, run.claim, remainingMs);
      if (!(await context.store.change(run.claim, move, limitOf(context))))
        throw new Error('the row no longer belongs to this attempt');
      this.leaseUntilMs = untilMs;
    } catch (error) {
      const message = `Could not record the extension of lock '${lock.name}' in the row of ${describeRun(run.claim)}. If the lock is renamed or moved before the run ends, another instance can take the run over.`;
      context.events.warn(message, error);
    }
  }

  get #limits(): RecordingLimits {
    const { held, run } = this.options;
    return { remainingMs: run.remainingMs(), isAbandoned: held.isAbandoned };
  }

  #warnNotRecorded(error: unknown): void {
    const { claim } = this.options.run;
    this.context.events.warn(`Could not record the outcome of ${describeRun(claim)}.`, error);
  }
}

/**
 * An end that is a little too late is safe. The store adds the remaining time, measured before the statement, to its
 * own current time.
 */
function decideExtension(found: FoundRun | undefined, claim: Claim, remainingMs: number): Decision<boolean> {
  if (found === undefined || found.run.state !== 'running' || !isOurs(found.run, claim))
    return { value: false };
  const { run, now } = found;
  const leaseUntil = new Date(now.getTime() + remainingMs + 1);
  const isCovered = run.leaseUntil !== undefined && run.leaseUntil >= leaseUntil;
  return isCovered ? { value: true } : { value: true, write: { ...run, leaseUntil } };
}
