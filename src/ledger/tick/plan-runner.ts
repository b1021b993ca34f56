import type { LockedTask, TaskResult } from '../../core';
import { limitOf, type LedgerContext } from '../store-statements';
import { periodAt, type Period } from '../periods/period';
import { periodOfRun } from '../periods/period-of-key';
import type { OncePerRequest } from './plan-tick';
import type { HeldTick, Turns } from './run-claimer';

/** Runs one period, or several, under one lease: the tick's own first, then the earliest. */
export class HeldPeriods {
  constructor(
    private readonly context: LedgerContext,
    private readonly turns: Turns,
    private readonly isClosing: () => boolean,
  ) {}

  /** The result is that of the tick's own period. The others are told by events, and none stops the rest. */
  async run<T>(tick: HeldTick<T>): Promise<TaskResult<T>> {
    let failure: { error: unknown } | undefined;
    let result: TaskResult<T> = { executed: false, reason: 'not-due' };
    const beganMs = this.context.clock.monotonicMs();
    try {
      result = await this.#own(tick);
    } catch (error) {
      failure = { error };
      // Not even the claim came about: the store has other troubles.
      if (!tick.report.isAnswered) throw error;
    }
    await this.#others(tick, this.context.clock.monotonicMs() - beganMs);
    if (failure !== undefined) throw failure.error;
    return result;
  }

  async #own<T>(tick: HeldTick<T>): Promise<TaskResult<T>> {
    const { request, sight, plan, report } = tick;
    const { own } = plan;
    switch (own.kind) {
      case 'refused':
        return { executed: false, reason: own.reason };
      case 'over':
      case 'not-asked':
        return { executed: false, reason: 'not-due' };
      case 'skip':
        await this.turns.telling(request, () => this.#insertSkipped(request, sight.period, own.reason));
        report.isAnswered = true;
        return this.turns.skip(tick, sight.period, own.reason);
      case 'run': {
        const { period } = sight;
        const { timeZone } = request.policy.period;
        const { task, scheduledAt } = request;
        const { isNew } = own;
        const isCatchUp = isPast(period, tick);
        return await this.turns.take(tick, {
          period,
          timeZone,
          isNew,
          isCatchUp,
          isOwn: true,
          task,
          scheduledAt,
        });
      }
    }
  }

  async #others<T>(tick: HeldTick<T>, ownMs: number): Promise<void> {
    const { request, plan, report } = tick;
    const { policy, resumed } = request;
    const { timeZone } = policy.period;
    // At first: were this interrupted, what is not to be run would look like the next that is.
    const isRecorded = await this.#recordMissed(request, plan.missed);
    const catchUp = isRecorded ? plan.catchUp : [];
    const turns = [
      ...plan.owed.map((run) => ({
        period: periodOfRun(run, policy.period),
        timeZone: run.timeZone,
        isNew: false,
      })),
      ...catchUp.map((period) => ({ period, timeZone, isNew: true })),
    ].sort((a, b) => startMs(a.period) - startMs(b.period));
    let longestMs = ownMs;
    for (const turn of turns) {
      if (!this.#leaseSuffices(tick, longestMs)) return;
      const run = { job: policy.job, scope: request.scope, periodKey: turn.period.key };
      const task: LockedTask<unknown> = (lock) => resumed(run)(lock);
      const beganMs = this.context.clock.monotonicMs();
      const startedBefore = report.started;
      try {
        await this.turns.take(tick, { ...turn, task, isOwn: false, isCatchUp: isPast(turn.period, tick) });
      } catch {
        // It was told by an event. Where not even the claim came about, the store has other troubles.
        if (report.started === startedBefore) return;
      }
      longestMs = Math.max(longestMs, this.context.clock.monotonicMs() - beganMs);
    }
  }

  /**
   * A lease that is kept alive does as long as it is not over, lost or released by the handler; another must outlast what
   * has taken longest so far.
   */
  #leaseSuffices<T>({ held, request }: HeldTick<T>, longestMs: number): boolean {
    if (this.isClosing() || held.lock.signal.aborted) return false;
    const { keepAlive = false } = request.lock;
    return held.lock.remainingMs() > (keepAlive === false ? longestMs : 0);
  }

  /** Whoever was first has decided: a duplicate is ignored. */
  async #insertSkipped<T>(request: OncePerRequest<T>, period: Period, reason: string): Promise<void> {
    const { policy, scope } = request;
    const { key: periodKey, start: periodStart, end: periodEnd } = period;
    const { timeZone } = policy.period;
    const run = { job: policy.job, scope, periodKey, periodStart, periodEnd, timeZone };
    await this.context.store.insert({ ...run, state: 'skipped', reason }, limitOf(this.context));
  }

  /** @returns `false` when the store fails: nothing is caught up with before that is known */
  async #recordMissed<T>(request: OncePerRequest<T>, periods: readonly Period[]): Promise<boolean> {
    for (const period of periods) {
      try {
        await this.#insertSkipped(request, period, 'missed');
      } catch (error) {
        const { job } = request.policy;
        const message = `That job '${job}' missed ${period.key} could not be recorded; it is tried again.`;
        this.context.events.emit('guard:warning', { message, error });
        return false;
      }
    }
    return true;
  }
}

/** Before the period that a tick now would belong to. */
function isPast<T>({ start }: Period, { request, sight }: HeldTick<T>): boolean {
  const current = periodAt(sight.now, request.policy.period);
  return start !== undefined && current.start !== undefined && start < current.start;
}

function startMs({ start }: Period): number {
  return start?.getTime() ?? 0;
}
