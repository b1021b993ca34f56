import {
  ClaimLostError,
  LockStorageError,
  type HeldLock,
  type LockConfiguration,
  type LockedTask,
  type LockProvider,
  type SkipReason,
  type TaskResult,
} from '../../core';
import { newOwner } from '../../core/lease/owner';
import { checkLockConfiguration } from '../../core/lock-configuration';
import { LONGEST_NAME_LENGTH } from '../../core/lock-name';
import type { LedgerContext } from '../store-statements';
import type { Period } from '../periods/period';
import { describeRun, identityOf } from '../run';
import { claimRun, lockIdOf, unclaimRun, type ClaimAnswer, type ClaimRequest } from './claim-run';
import type { Sight } from './ledger-snapshot';
import type { OncePerRequest, Report, TickPlan } from './plan-tick';
import { recordOutcome } from './record-outcome';
import { runAttempt } from './run-attempt';
import { RunContext } from './run-context';

/** What is done while a lock is held. */
export interface HeldTick<T> {
  readonly held: HeldLock;
  readonly request: OncePerRequest<T>;
  readonly sight: Sight;
  readonly plan: TickPlan;
  readonly report: Report;
}

/** One period to be run under the lock. */
export interface Turn<T> {
  readonly period: Period;
  readonly timeZone: string | undefined;
  readonly isNew: boolean;
  readonly isCatchUp: boolean;
  /** The one that the tick asks about. */
  readonly isOwn: boolean;
  readonly scheduledAt?: Date | undefined;
  readonly task: LockedTask<T>;
}

/** How long a tick whose claim has no answer waits for one. */
const LONGEST_UNCLAIM_MS = 60_000;

/** Claims one period and runs it, and tells of what came in between. */
export class Turns {
  /** The attempts that this guard has not come to the end of. */
  readonly #here = new Set<string>();

  constructor(
    private readonly context: LedgerContext,
    private readonly lockProvider: LockProvider,
  ) {}

  async take<T, R>(tick: HeldTick<T>, turn: Turn<R>): Promise<TaskResult<R>> {
    const claimedBy = newOwner();
    this.#here.add(claimedBy);
    try {
      return await this.#take(tick, turn, claimedBy);
    } finally {
      this.#here.delete(claimedBy);
    }
  }

  async #take<T, R>(tick: HeldTick<T>, turn: Turn<R>, claimedBy: string): Promise<TaskResult<R>> {
    const { held, request, report } = tick;
    const { period, task, scheduledAt, isCatchUp } = turn;
    const leaseUntilMs = this.context.clock.monotonicMs() + longestLeaseMs(request.lock);
    const answer = await this.#claim(tick, turn, claimedBy);
    if (turn.isOwn) report.isAnswered = true;
    if (answer.kind === 'refused') return this.#refused(tick, period, answer);
    const { claim } = answer;
    report.started += 1;
    const run = new RunContext({
      ...{ claim, period, scheduledAt, isCatchUp },
      lock: held.lock,
      ledger: this.context,
    });
    if (answer.lost !== undefined) {
      const { attempt: lostAttempt, claimedBy: lostClaim } = answer.lost;
      const event = { ...eventOf(request), run: identityOf(claim) };
      this.context.events.emit('run:takenOver', { ...event, lostAttempt, lostClaim });
    }
    const { policy } = request;
    const value = await runAttempt(this.context, { held, task, run, policy, leaseUntilMs });
    return { executed: true, value };
  }

  async #claim<T, R>({ held, request }: HeldTick<T>, turn: Turn<R>, claimedBy: string): Promise<ClaimAnswer> {
    const { policy, scope, lock } = request;
    const { key: periodKey, start: periodStart, end: periodEnd } = turn.period;
    const asked: ClaimRequest = {
      ...{ policy, job: policy.job, scope, periodKey, periodStart, periodEnd, timeZone: turn.timeZone },
      ...{ claimedBy, isHere: (other) => this.#here.has(other) },
      lock: held.lock,
      lockId: lockIdOf(this.lockProvider, lock.name),
      leaseMs: longestLeaseMs(lock),
      isNew: turn.isNew,
    };
    const claiming = this.telling(request, async () => {
      const answer = await claimRun(this.context, asked);
      if (answer.kind === 'claimed' && held.lock.signal.aborted) {
        const patience = { remainingMs: 0, abandonedSignal: held.abandonedSignal };
        await recordOutcome(this.context, answer.claim, { kind: 'given-back' }, patience);
        held.lock.signal.throwIfAborted();
      }
      return answer;
    });
    return await claiming.catch(async (error: unknown) => {
      if (error instanceof LockStorageError && error.outcome === 'unknown') await this.#unclaim(asked, held);
      throw error;
    });
  }

  /** While the lock is held: nobody else takes the run for one whose holder vanished. */
  async #unclaim(asked: ClaimRequest, held: HeldLock): Promise<void> {
    try {
      const forMs = Math.min(LONGEST_UNCLAIM_MS, held.lock.remainingMs());
      await unclaimRun(this.context, asked, { forMs, abandonedSignal: held.abandonedSignal });
    } catch (error) {
      const message = `It is not known whether ${describeRun(asked)} was claimed: if it was, the attempt counts as lost.`;
      this.context.events.emit('guard:warning', { message, error });
    }
  }

  /** A step before the handler: when it fails, the job does not run, and that is told. */
  async telling<T, R>(request: OncePerRequest<T>, step: () => Promise<R>): Promise<R> {
    try {
      return await step();
    } catch (error) {
      const event = eventOf(request);
      this.context.events.emit('lock:failed', { ...event, isAskedAgain: request.isAskedAgain, error });
      throw error;
    }
  }

  #refused<T>(
    tick: HeldTick<T>,
    period: Period,
    answer: ClaimAnswer & { kind: 'refused' },
  ): TaskResult<never> {
    const { lost, reason } = answer;
    // It was counted as owed, and turns out not to be.
    if (reason !== 'running-elsewhere' && lost === undefined) tick.report.owed -= 1;
    if (lost !== undefined) {
      const event = { ...eventOf(tick.request), run: identityOf(lost) };
      if (reason === 'interrupted')
        this.context.events.emit('run:interrupted', { ...event, lostClaim: lost.claimedBy });
      else {
        const error = new ClaimLostError(
          `The holder of attempt ${lost.attempt} of ${describeRun(lost)} vanished, and no attempt is left: it is given up.`,
        );
        this.context.events.emit('run:failed', { ...event, error, durationMs: 0, isGivenUp: true });
      }
    }
    return this.skip(tick, period, reason);
  }

  skip<T>({ request, sight }: HeldTick<T>, period: Period, reason: SkipReason): TaskResult<never> {
    const { policy, scope } = request;
    const known = sight.recorded.runs.find(({ periodKey }) => periodKey === period.key);
    const absent = { job: policy.job, scope, periodKey: period.key, generation: 0, attempt: 0 };
    const run = known === undefined ? absent : identityOf(known);
    this.context.events.emit('run:skipped', { ...eventOf(request), reason, run });
    return { executed: false, reason };
  }
}

function eventOf<T>({ lock, scheduledAt }: OncePerRequest<T>): {
  name: string;
  scheduledAt: Date | undefined;
} {
  return { name: lock.name, scheduledAt };
}

/** How long a lease can last at the most. The guard has checked the name. */
function longestLeaseMs(lock: LockConfiguration): number {
  const { renewEveryMs, maxHoldMs, lockAtMostForMs } = checkLockConfiguration(lock, LONGEST_NAME_LENGTH);
  return renewEveryMs === undefined ? lockAtMostForMs : maxHoldMs;
}
