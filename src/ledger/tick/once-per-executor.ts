/**
 * tick/: the flow of every call of a once-per job: peek, lock, claim, run, record.
 *
 * 1. `ledger-snapshot.ts` reads the job's rows and the database's clock without a lock, and finds the period.
 * 2. `plan-tick.ts` decides what there is to do. Most calls end there, because the period has been completed. Each step
 *    adds its findings to the `Tick`, which is the call itself.
 * 3. This file carries out the plan while the lock is held, one period after the other.
 * 4. `claim-run.ts` claims one period and runs it. A claim inserts the run's row, or changes it as `decide-claim.ts`
 *    decides.
 * 5. `run-attempt.ts` calls the handler, which sees its run through `run-context.ts`. It records the outcome before
 *    the caller gets it: `record-outcome.ts`, `decide-outcome.ts`.
 *
 * The `decide-…` functions are pure. The other files send the statements, ask the calendar and set the timers.
 */
import {
  LockStorageError,
  type HeldLock,
  type Lock,
  type LockedTask,
  type LockingTaskExecutor,
  type TaskResult,
} from '../../core';
import { isAborted, liveLocks } from '../../core/execution/run-registry';
import type { Period } from '../periods/period';
import { periodOfRun } from '../periods/period-of-key';
import { stateOfRun } from '../operator/state-of-run';
import { describeRun, identityOf, isRunAhead, newRunOf } from '../run';
import { limitOf, type LedgerContext } from '../store-statements';
import { RunClaimer } from './claim-run';
import { readSnapshot, type LedgerSnapshot, type PeriodRequest } from './ledger-snapshot';
import { findCaughtUpPeriod, hasWork, planTick, type Tick } from './plan-tick';
import { currentContext } from './run-context';

export class OncePerExecutor {
  readonly #claimer: RunClaimer;
  readonly #warnedOf = new Set<string>();

  constructor(
    private readonly context: LedgerContext,
    private readonly executor: LockingTaskExecutor,
  ) {
    this.#claimer = new RunClaimer(context);
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
  async run<T>(tick: Tick<T>): Promise<TaskResult<T>> {
    const { request, report } = tick;
    const inner = this.#runInsideItself(tick);
    if (inner !== undefined) {
      tick.isRecorded = true; // The run that contains this call has a row.
      return await inner;
    }
    tick.isFinal = true; // A tick that is skipped here is not retried.
    const skipped = request.skip?.();
    if (skipped !== undefined) return skipped;
    tick.isFinal = false;
    const snapshot = (tick.snapshot = await this.#readSnapshot(tick));
    tick.isRecorded = snapshot.run !== undefined;
    report.run = tick.runOf(snapshot.period);
    const plan = (tick.plan = await planTick(this.context, request, snapshot));
    this.#reportFindings(tick);
    const { own } = plan;
    const reason = own.kind === 'refused' ? own.reason : 'not-due';
    tick.isFinal = own.kind !== 'run' && own.kind !== 'skip' && reason === 'not-due';
    tick.caughtUpPeriod = findCaughtUpPeriod(request, snapshot, plan);
    // A running run is overdue only if its holder has crashed, which only the holder of the lock can detect.
    const due = plan.overdue.filter(({ state }) => state !== 'running');
    tick.overdue = due.length + plan.catchUp.length + (own.kind === 'run' ? 1 : 0);
    const refused = { executed: false, reason } as const;
    if (!hasWork(plan)) return refused;
    report.willRetry = request.willRetry && own.kind === 'run' && own.isNew;
    report.isAnsweredBySkip = request.tick !== undefined;
    const work = (held: HeldLock): Promise<TaskResult<T>> => {
      tick.held = held;
      report.willRetry = request.willRetry;
      return this.#runPlan(tick);
    };
    const result = await this.executor.holding(report, work);
    // The lock may be held elsewhere, but the snapshot had shown the reason before.
    return own.kind === 'refused' ? refused : result;
  }

  /** Once its lease has expired, a run can contain no calls: the call is a new one. */
  #runInsideItself<T>({ request, report }: Tick<T>): Promise<TaskResult<T>> | undefined {
    const { policy, scope, at, task } = request;
    const run = currentContext();
    if (run === undefined || run.isSettled) return undefined;
    if (run.ledger?.store !== this.context.store || run.job !== policy.job || run.scope !== scope)
      return undefined;
    if (at !== undefined && policy.periodAt(at).key !== run.periodKey) return undefined;
    const { clock } = this.context;
    const timed = async (lock: Lock): Promise<TaskResult<T>> => {
      const beganMs = clock.monotonicMs();
      report.run = identityOf(run);
      try {
        return { executed: true, value: await task(lock) };
      } finally {
        report.durationMs = Math.round(clock.monotonicMs() - beganMs);
      }
    };
    for (const lock of liveLocks()) if (run.isUnder(lock)) return lock.nest(() => timed(lock));
    return undefined;
  }

  async #readSnapshot<T>(tick: Tick<T>): Promise<LedgerSnapshot> {
    try {
      return await readSnapshot(this.context, tick.request);
    } catch (error) {
      tick.isFinal = !(error instanceof LockStorageError);
      tick.report.willRetry = tick.request.willRetry && !tick.isFinal;
      tick.report.fail(error);
      throw error;
    }
  }

  #reportFindings<T>(tick: Tick<T>): void {
    const { request, snapshot, plan, report } = tick;
    const { job } = request.policy;
    const { events } = this.context;
    for (const message of snapshot.warnings) events.warn(message);
    for (const { failed, cause } of plan.failures)
      events.warn(`Some runs of job '${job}' may start late: ${failed}. cronlatch tries again later.`, cause);
    if (plan.own.kind === 'expired' && !plan.own.isAnswered) {
      const { key } = snapshot.period;
      const message = request.tick
        ? `The tick ${key} of job '${job}' could not run before the next one, so it is lost.`
        : `A tick of job '${job}' could not run before its period ${key} ended, so the period is missed.`;
      events.warn(message);
    }
    if (plan.own.kind !== 'refused') return;
    report.skipRun(report.run, plan.own.reason);
    const { run, now } = snapshot;
    if (!run || !isRunAhead(run, now) || this.#warnedOf.has(describeRun(run))) return;
    this.#warnedOf.add(describeRun(run));
    events.warn(`Skipped ${describeRun(run)}: it ${stateOfRun(run, { now }).sentence}.`);
  }

  /**
   * Carries out the plan under one lease: the tick's own period, then the others, the earliest first. Returns
   * the result of its own period. A failure of another one is an event, and does not stop the rest.
   */
  async #runPlan<T>(tick: Tick<T>): Promise<TaskResult<T>> {
    const beganMs = this.context.clock.monotonicMs();
    const own = this.#runOwnPeriod(tick);
    await own.catch((error: unknown) => {
      // The store did not even answer the claim, so further statements would fail, too.
      if (!tick.isRecorded) throw error;
    });
    await this.#runOtherPeriods(tick, this.context.clock.monotonicMs() - beganMs);
    return await own;
  }

  async #runOwnPeriod<T>(tick: Tick<T>): Promise<TaskResult<T>> {
    const { request, snapshot, plan } = tick;
    const { own } = plan;
    const { period } = snapshot;
    if (own.kind === 'run') {
      const { task, policy } = request;
      const { timeZone } = policy.period;
      const planned = { period, timeZone, isNew: own.isNew, isOwn: true, task };
      return await this.#claimer.claimAndRun(tick, planned);
    }
    // The caller knows the reason of a refusal.
    if (own.kind !== 'skip') return { executed: false, reason: 'not-due' };
    await this.#claimer.runStep(tick, () => this.#insertSkipped(request, period, own.reason));
    tick.isRecorded = true;
    return tick.report.skipRun(tick.runOf(period), own.reason);
  }

  async #runOtherPeriods<T>(tick: Tick<T>, ownMs: number): Promise<void> {
    const { request, plan } = tick;
    const { policy, scope, taskOf } = request;
    const { timeZone } = policy.period;
    // Missed periods are recorded first. If the process died in between, a missed period would otherwise look like
    // the next one to catch up with.
    const isRecorded = await this.#recordMissed(request, plan.missed);
    const catchUp = isRecorded ? plan.catchUp : [];
    const planned = [
      ...plan.overdue.map((run) => ({
        period: periodOfRun(run, policy.period),
        timeZone: run.timeZone,
        isNew: false,
      })),
      ...catchUp.map((period) => ({ period, timeZone, isNew: true })),
    ].sort((a, b) => startMs(a.period) - startMs(b.period));
    let longestMs = ownMs;
    for (const each of planned) {
      if (!this.#leaseSuffices(tick, longestMs)) return;
      const run = { job: policy.job, scope, periodKey: each.period.key };
      const task: LockedTask<unknown> = (lock) => taskOf(run)(lock);
      const beganMs = this.context.clock.monotonicMs();
      const startedBefore = tick.started;
      try {
        await this.#claimer.claimAndRun(tick, { ...each, task, isOwn: false });
      } catch {
        // An event has reported the error. If the store did not even answer the claim, further statements would fail,
        // too.
        if (tick.started === startedBefore) return;
      }
      longestMs = Math.max(longestMs, this.context.clock.monotonicMs() - beganMs);
    }
  }

  /** A lease with `keepAlive` suffices while it is live. Any other must last longer than the longest run so far. */
  #leaseSuffices<T>({ held, request }: Tick<T>, longestMs: number): boolean {
    if (this.executor.runs.closing || isAborted(held.lock)) return false;
    const { keepAlive = false } = request.lock;
    return held.lock.remainingMs() > (keepAlive === false ? longestMs : 0);
  }

  /** A duplicate is ignored, because another instance has already decided. */
  async #insertSkipped({ policy, scope }: PeriodRequest, period: Period, reason: string): Promise<void> {
    const run = newRunOf({ job: policy.job, scope }, period, policy.period.timeZone);
    await this.context.store.insert({ ...run, state: 'skipped', reason }, limitOf(this.context));
  }

  /** @returns `false` if the store fails. Nothing is caught up before the missed periods are recorded. */
  async #recordMissed(request: PeriodRequest, periods: readonly Period[]): Promise<boolean> {
    for (const period of periods) {
      try {
        await this.#insertSkipped(request, period, 'missed');
      } catch (error) {
        const message = `Could not record that job '${request.policy.job}' missed ${period.key}. cronlatch retries.`;
        this.context.events.warn(message, error);
        return false;
      }
    }
    return true;
  }
}

function startMs({ start }: Period): number {
  return start?.getTime() ?? 0;
}
