/**
 * tick/: the flow of every call of a once-per job: peek, lock, claim, run, record.
 *
 * 1. `ledger-snapshot.ts` reads the job's rows and the database's clock without a lock, and finds the period.
 * 2. `plan-tick.ts` decides what there is to do. Most calls end there, because the period has been completed.
 * 3. `plan-runner.ts` carries out the plan while the lock is held, one period after the other.
 * 4. `run-claimer.ts` claims one period and runs it. A claim inserts the run's row or changes it: `claim-run.ts`,
 *    `decide-claim.ts`.
 * 5. `run-attempt.ts` calls the handler, which sees its run through `run-context.ts`. It records the outcome before
 *    the caller gets it: `record-outcome.ts`, `decide-outcome.ts`.
 *
 * The `decide-…` and `plan-…` functions are pure. The other files send the statements and set the timers.
 */
import {
  LockStorageError,
  type Lock,
  type LockingTaskExecutor,
  type LockProvider,
  type RunIdentity,
  type TaskResult,
} from '../../core';
import { lockEventOf } from '../../core/execution/events';
import { liveLocks } from '../../core/execution/run-registry';
import { PlanRunner } from './plan-runner';
import { identityOf } from '../run';
import type { LedgerContext } from '../store-statements';
import { readSnapshot, type LedgerSnapshot } from './ledger-snapshot';
import {
  findCaughtUpPeriod,
  hasWork,
  newTickReport,
  planTick,
  type OncePerRequest,
  type TickReport,
  type TickPlan,
} from './plan-tick';
import { currentContext } from './run-context';
import { RunClaimer } from './run-claimer';

/** Carries out every call of a once-per job: peek, lock, claim, run, record. */
export class OncePerExecutor {
  readonly #planRunner: PlanRunner;

  constructor(
    private readonly context: LedgerContext,
    private readonly executor: LockingTaskExecutor,
    lockProvider: LockProvider,
  ) {
    const { runs } = executor;
    this.#planRunner = new PlanRunner(context, new RunClaimer(context, lockProvider), () => runs.closing);
  }

  /**
   * Runs the task once in its period, and then the job's other overdue runs while the lease lasts. A call from inside
   * a run, for that same run, is part of it.
   *
   * @throws LockStorageError if it is not certain that the lock was obtained and the run claimed: the task did not
   *   run
   * @throws ClaimLostError if another instance has taken the run over
   * @throws the task's own error, unchanged
   */
  async run<T>(request: OncePerRequest<T>, report: TickReport = newTickReport()): Promise<TaskResult<T>> {
    const inner = this.#runInsideItself(request, report);
    if (inner !== undefined) {
      report.isRecorded = true; // The run that contains this call has a row.
      return await inner;
    }
    report.isFinal = true; // A tick that is skipped here is not retried.
    const skipped = request.skip?.();
    if (skipped !== undefined) return skipped;
    report.isFinal = false;
    const snapshot = await this.#readSnapshot(request, report);
    report.isRecorded = snapshot.run !== undefined;
    report.tick.run = runOf(request, snapshot);
    const plan = await planTick(this.context, request, snapshot);
    this.#reportFindings(request, snapshot, plan);
    report.isFinal = plan.own.kind === 'expired';
    report.caughtUpPeriod = findCaughtUpPeriod(request, snapshot, plan);
    report.overdue += overdueCount(plan);
    if (!hasWork(plan)) return { executed: false, reason: reasonOf(plan) };
    const { lock, scheduledAt } = request;
    const willRetry = request.willRetry && plan.own.kind === 'run' && plan.own.isNew;
    const result = await this.executor.holding(
      lock,
      (held) => this.#planRunner.run({ held, request, snapshot, plan, report }),
      { scheduledAt, willRetry },
    );
    // The lock may be held elsewhere, but the snapshot had shown the reason before.
    return plan.own.kind === 'refused' ? { executed: false, reason: plan.own.reason } : result;
  }

  /** Once its lease has expired, a run can contain no calls: the call is a new one. */
  #runInsideItself<T>(
    { policy, scope, at, task }: OncePerRequest<T>,
    { tick }: TickReport,
  ): Promise<TaskResult<T>> | undefined {
    const run = currentContext();
    if (run === undefined || run.isSettled) return undefined;
    if (run.ledger?.store !== this.context.store || run.job !== policy.job || run.scope !== scope)
      return undefined;
    if (at !== undefined && policy.periodAt(at).key !== run.periodKey) return undefined;
    const { clock } = this.context;
    const timed = async (lock: Lock): Promise<TaskResult<T>> => {
      const beganMs = clock.monotonicMs();
      tick.run = identityOf(run);
      try {
        return { executed: true, value: await task(lock) };
      } finally {
        tick.durationMs = clock.monotonicMs() - beganMs;
      }
    };
    for (const lock of liveLocks()) if (run.isUnder(lock)) return lock.nest(() => timed(lock));
    return undefined;
  }

  async #readSnapshot<T>(request: OncePerRequest<T>, report: TickReport): Promise<LedgerSnapshot> {
    try {
      return await readSnapshot(this.context, request);
    } catch (error) {
      const { lock, scheduledAt } = request;
      report.isFinal = !(error instanceof LockStorageError);
      const willRetry = request.willRetry && !report.isFinal;
      this.context.events.emit('lock:failed', { ...lockEventOf(lock, scheduledAt), willRetry, error });
      throw error;
    }
  }

  /** Emits the findings of the snapshot and the plan. */
  #reportFindings<T>(request: OncePerRequest<T>, snapshot: LedgerSnapshot, plan: TickPlan): void {
    const { policy, lock, scheduledAt } = request;
    const { events } = this.context;
    for (const message of snapshot.warnings) events.emit('guard:warning', { message });
    for (const { failed, cause } of plan.failures) {
      const message = `Some runs of job '${policy.job}' may start late: ${failed}. cronlatch tries again later.`;
      events.emit('guard:warning', { message, ...(cause === undefined ? {} : { error: cause }) });
    }
    if (plan.own.kind === 'expired') {
      const message = `A tick of job '${policy.job}' could not run before its period ${snapshot.period.key} ended, so the period is missed.`;
      events.emit('guard:warning', { message });
    }
    if (plan.own.kind !== 'refused') return;
    const run = runOf(request, snapshot);
    events.emit('run:skipped', { ...lockEventOf(lock, scheduledAt), run, reason: plan.own.reason });
  }
}

function runOf<T>({ policy, scope }: OncePerRequest<T>, { run, period }: LedgerSnapshot): RunIdentity {
  const { generation = 0, attempt = 0 } = run ?? {};
  return { job: policy.job, scope, periodKey: period.key, generation, attempt };
}

function reasonOf({ own }: TickPlan): 'not-due' | (TickPlan['own'] & { kind: 'refused' })['reason'] {
  return own.kind === 'refused' ? own.reason : 'not-due';
}

/** A running run is overdue only if its holder has crashed, which only the holder of the lock can detect. */
function overdueCount({ own, overdue, catchUp }: TickPlan): number {
  const due = overdue.filter(({ state }) => state !== 'running').length;
  return due + catchUp.length + (own.kind === 'run' ? 1 : 0);
}
