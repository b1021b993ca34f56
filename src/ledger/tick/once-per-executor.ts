/**
 * tick/: the flow of every call of a once-per job: peek, lock, claim, run, record.
 *
 * 1. `ledger-snapshot.ts` reads the job's rows and the database's clock, without a lock, and finds the period.
 * 2. `plan-tick.ts` decides what there is to do. Most calls end there: the period has been completed.
 * 3. `plan-runner.ts` carries the plan out while the lock is held, one period after the other.
 * 4. `run-claimer.ts` claims one period and runs it. A claim inserts the run's row or changes it: `claim-run.ts`,
 *    `decide-claim.ts`.
 * 5. `run-attempt.ts` calls the handler, whose view of the run is `run-context.ts`, and records the outcome before the
 *    caller gets it: `record-outcome.ts`, `decide-outcome.ts`.
 *
 * The `decide-…` and `plan-…` functions are pure. The files around them own the statements and the timers.
 */
import { LockStorageError, type LockingTaskExecutor, type LockProvider, type TaskResult } from '../../core';
import { activeContexts } from '../../core/execution/lock-context';
import { PlanRunner } from './plan-runner';
import type { LedgerContext } from '../store-statements';
import { readSnapshot, type LedgerSnapshot } from './ledger-snapshot';
import {
  caughtUpIn,
  hasWork,
  newReport,
  planTick,
  type OncePerRequest,
  type Report,
  type TickPlan,
} from './plan-tick';
import { periodAt } from '../periods/period';
import { currentContext } from './run-context';
import { RunClaimer } from './run-claimer';

/** Peek, lock, claim, run, record: every call of a once-per job goes through these steps. */
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
   * Runs the task once in its period, and then the job's other overdue runs while the lease lasts. A call from inside the
   * very run that it asks for is part of that run.
   *
   * @throws LockStorageError if it is not known that the lock was obtained and the run claimed: the task did not run
   * @throws ClaimLostError if another instance has taken the run over
   * @throws whatever the task throws, unchanged
   */
  async run<T>(request: OncePerRequest<T>, report: Report = newReport()): Promise<TaskResult<T>> {
    const inner = this.#runInsideItself(request);
    if (inner !== undefined) {
      report.isAnswered = true; // By the run that it is part of, whatever its period.
      return await inner;
    }
    const snapshot = await this.#readSnapshot(request, report);
    report.isAnswered = snapshot.run !== undefined;
    const plan = await planTick(this.context, request, snapshot);
    this.#reportFindings(request, snapshot, plan);
    report.isOver = plan.own.kind === 'over';
    report.caughtUpIn = caughtUpIn(request, snapshot, plan);
    report.overdue += overdueCount(plan);
    if (!hasWork(plan)) return { executed: false, reason: reasonOf(plan) };
    const { lock, scheduledAt } = request;
    const willRetry = request.willRetry && plan.own.kind === 'run' && plan.own.isNew;
    const result = await this.executor.holding(
      lock,
      (held) => this.#planRunner.run({ held, request, snapshot, plan, report }),
      { scheduledAt, willRetry },
    );
    // The lock may be held elsewhere, but the reason was found before.
    return plan.own.kind === 'refused' ? { executed: false, reason: plan.own.reason } : result;
  }

  /** A run whose lease has expired has no inside: the call is a new one, and is refused here. */
  #runInsideItself<T>({ policy, scope, at, task }: OncePerRequest<T>): Promise<TaskResult<T>> | undefined {
    const run = currentContext();
    if (run === undefined || run.isSettled) return undefined;
    if (run.ledger?.store !== this.context.store || run.job !== policy.job || run.scope !== scope)
      return undefined;
    if (at !== undefined && periodAt(at, policy.period).key !== run.periodKey) return undefined;
    for (const lease of activeContexts()) {
      if (run.isUnder(lease.lock))
        return lease.nest(async (lock) => ({ executed: true, value: await task(lock) }));
    }
    return undefined;
  }

  async #readSnapshot<T>(request: OncePerRequest<T>, report: Report): Promise<LedgerSnapshot> {
    try {
      return await readSnapshot(this.context, request);
    } catch (error) {
      const { lock, scheduledAt } = request;
      report.isOver = !(error instanceof LockStorageError);
      const willRetry = request.willRetry && !report.isOver;
      this.context.events.emit('lock:failed', { name: lock.name, scheduledAt, willRetry, error });
      throw error;
    }
  }

  /** Emits what the snapshot and the plan have found. */
  #reportFindings<T>(
    { policy, scope, lock, scheduledAt }: OncePerRequest<T>,
    snapshot: LedgerSnapshot,
    plan: TickPlan,
  ): void {
    const { events } = this.context;
    for (const message of snapshot.warnings) events.emit('guard:warning', { message });
    for (const { failed, cause } of plan.failures) {
      const message = `Job '${policy.job}' does not run: ${failed}. It is asked again.`;
      events.emit('guard:warning', { message, ...(cause === undefined ? {} : { error: cause }) });
    }
    if (plan.own.kind === 'over') {
      const message = `A tick of job '${policy.job}' for ${snapshot.period.key} was not answered before its period was over: it is a gap now.`;
      events.emit('guard:warning', { message });
    }
    if (plan.own.kind !== 'refused') return;
    const { generation = 0, attempt = 0 } = snapshot.run ?? {};
    const run = { job: policy.job, scope, periodKey: snapshot.period.key, generation, attempt };
    events.emit('run:skipped', { name: lock.name, scheduledAt, run, reason: plan.own.reason });
  }
}

function reasonOf({ own }: TickPlan): 'not-due' | (TickPlan['own'] & { kind: 'refused' })['reason'] {
  return own.kind === 'refused' ? own.reason : 'not-due';
}

/** A running run is overdue only if its holder has crashed, which only the holder of the lock can find out. */
function overdueCount({ own, overdue, catchUp }: TickPlan): number {
  const due = overdue.filter(({ state }) => state !== 'running').length;
  return due + catchUp.length + (own.kind === 'run' ? 1 : 0);
}
