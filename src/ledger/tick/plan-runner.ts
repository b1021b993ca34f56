import type { LockedTask, TaskResult } from '../../core';
import { isAborted } from '../../core/execution/run-registry';
import { limitOf, type LedgerContext } from '../store-statements';
import type { Period } from '../periods/period';
import { periodOfRun } from '../periods/period-of-key';
import type { OncePerRequest } from './plan-tick';
import type { HeldTick, RunClaimer } from './run-claimer';

/** Carries out a tick's plan under one lease: the tick's own period first, then the others, the earliest first. */
export class PlanRunner {
  constructor(
    private readonly context: LedgerContext,
    private readonly claimer: RunClaimer,
    private readonly isClosing: () => boolean,
  ) {}

  /**
   * @returns the result of the tick's own period. Events report the other periods, and a failure of one does not stop
   *   the rest.
   */
  async run<T>(tick: HeldTick<T>): Promise<TaskResult<T>> {
    let failure: { error: unknown } | undefined;
    let result: TaskResult<T> = { executed: false, reason: 'not-due' };
    const beganMs = this.context.clock.monotonicMs();
    try {
      result = await this.#runOwnPeriod(tick);
    } catch (error) {
      failure = { error };
      // The store did not even answer the claim, so further statements would fail, too.
      if (!tick.report.isRecorded) throw error;
    }
    await this.#runOtherPeriods(tick, this.context.clock.monotonicMs() - beganMs);
    if (failure !== undefined) throw failure.error;
    return result;
  }

  async #runOwnPeriod<T>(tick: HeldTick<T>): Promise<TaskResult<T>> {
    const { request, snapshot, plan, report } = tick;
    const { own } = plan;
    switch (own.kind) {
      case 'refused':
        return { executed: false, reason: own.reason };
      case 'expired':
      case 'none':
        return { executed: false, reason: 'not-due' };
      case 'skip':
        await this.claimer.runStep(request, () => this.#insertSkipped(request, snapshot.period, own.reason));
        report.isRecorded = true;
        return this.claimer.reportSkip(tick, snapshot.period, own.reason);
      case 'run': {
        const { period } = snapshot;
        const { task, scheduledAt, policy } = request;
        return await this.claimer.claimAndRun(tick, {
          period,
          timeZone: policy.period.timeZone,
          isNew: own.isNew,
          isCatchUp: isPast(period, tick),
          isOwn: true,
          scheduledAt,
          task,
        });
      }
    }
  }

  async #runOtherPeriods<T>(tick: HeldTick<T>, ownMs: number): Promise<void> {
    const { request, plan, report } = tick;
    const { policy, taskOf } = request;
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
      const run = { job: policy.job, scope: request.scope, periodKey: each.period.key };
      const task: LockedTask<unknown> = (lock) => taskOf(run)(lock);
      const beganMs = this.context.clock.monotonicMs();
      const startedBefore = report.started;
      try {
        const isCatchUp = isPast(each.period, tick);
        await this.claimer.claimAndRun(tick, { ...each, task, isOwn: false, isCatchUp });
      } catch {
        // An event has reported the error. If the store did not even answer the claim, further statements would fail,
        // too.
        if (report.started === startedBefore) return;
      }
      longestMs = Math.max(longestMs, this.context.clock.monotonicMs() - beganMs);
    }
  }

  /** A lease with `keepAlive` suffices while it is live. Any other must last longer than the longest run so far. */
  #leaseSuffices<T>({ held, request }: HeldTick<T>, longestMs: number): boolean {
    if (this.isClosing() || isAborted(held.lock)) return false;
    const { keepAlive = false } = request.lock;
    return held.lock.remainingMs() > (keepAlive === false ? longestMs : 0);
  }

  /** A duplicate is ignored, because another instance has already decided. */
  async #insertSkipped<T>(request: OncePerRequest<T>, period: Period, reason: string): Promise<void> {
    const { policy, scope } = request;
    const { key: periodKey, start: periodStart, end: periodEnd } = period;
    const { timeZone } = policy.period;
    const run = { job: policy.job, scope, periodKey, periodStart, periodEnd, timeZone };
    await this.context.store.insert({ ...run, state: 'skipped', reason }, limitOf(this.context));
  }

  /** @returns `false` if the store fails. Nothing is caught up before the missed periods are recorded. */
  async #recordMissed<T>(request: OncePerRequest<T>, periods: readonly Period[]): Promise<boolean> {
    for (const period of periods) {
      try {
        await this.#insertSkipped(request, period, 'missed');
      } catch (error) {
        const { job } = request.policy;
        const message = `Could not record that job '${job}' missed ${period.key}. cronlatch retries.`;
        this.context.events.emit('guard:warning', { message, error });
        return false;
      }
    }
    return true;
  }
}

/** Whether the period lies before the one of a tick that comes now. */
function isPast<T>({ start }: Period, { request, snapshot }: HeldTick<T>): boolean {
  const current = request.policy.periodAt(snapshot.now);
  return start !== undefined && current.start !== undefined && start < current.start;
}

function startMs({ start }: Period): number {
  return start?.getTime() ?? 0;
}
