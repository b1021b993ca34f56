import {
  ClaimLostError,
  LockStorageError,
  type HeldLock,
  type LockedTask,
  type LockEvent,
  type LockProvider,
  type SkipReason,
  type TaskResult,
} from '../../core';
import { lockEventOf } from '../../core/execution/events';
import { isAborted } from '../../core/execution/run-registry';
import { newOwner } from '../../core/lease/owner';
import type { LockTerms } from '../../core/lock-configuration';
import type { LedgerContext } from '../store-statements';
import type { Period } from '../periods/period';
import { describeRun, identityOf } from '../run';
import { claimRun, lockIdOf, unclaimRun, type ClaimResult, type ClaimRequest } from './claim-run';
import type { LedgerSnapshot } from './ledger-snapshot';
import type { OncePerRequest, TickReport, TickPlan } from './plan-tick';
import { recordOutcome } from './record-outcome';
import { Attempt } from './run-attempt';
import { RunContext } from './run-context';

/** A tick while its lock is held. */
export interface HeldTick<T> {
  readonly held: HeldLock;
  readonly request: OncePerRequest<T>;
  readonly snapshot: LedgerSnapshot;
  readonly plan: TickPlan;
  readonly report: TickReport;
}

/** One period that a tick runs under its lock. */
export interface PlannedRun<T> {
  readonly period: Period;
  readonly timeZone: string | undefined;
  readonly isNew: boolean;
  readonly isCatchUp: boolean;
  /** Whether it is the tick's own period. */
  readonly isOwn: boolean;
  readonly scheduledAt?: Date | undefined;
  readonly task: LockedTask<T>;
}

/** How long a tick tries to settle a claim without an answer. */
const LONGEST_UNCLAIM_MS = 60_000;

/** Claims the run of one period for a tick, then runs it. */
export class RunClaimer {
  /** The attempts that are running in this process, by their claims. */
  readonly #attempts = new Set<string>();

  constructor(
    private readonly context: LedgerContext,
    private readonly lockProvider: LockProvider,
  ) {}

  async claimAndRun<T, R>(tick: HeldTick<T>, planned: PlannedRun<R>): Promise<TaskResult<R>> {
    const claimedBy = newOwner();
    this.#attempts.add(claimedBy);
    try {
      return await this.#claimAndRun(tick, planned, claimedBy);
    } finally {
      this.#attempts.delete(claimedBy);
    }
  }

  async #claimAndRun<T, R>(
    tick: HeldTick<T>,
    planned: PlannedRun<R>,
    claimedBy: string,
  ): Promise<TaskResult<R>> {
    const { held, request, report } = tick;
    const { period, task, scheduledAt, isCatchUp } = planned;
    const leaseUntilMs = this.context.clock.monotonicMs() + longestLeaseMs(request.lock);
    const answer = await this.#claim(tick, planned, claimedBy);
    if (planned.isOwn) report.isRecorded = true;
    if (answer.kind === 'refused') return this.#reportRefusal(tick, period, answer);
    const { claim } = answer;
    report.started += 1;
    const { lock } = held;
    const run = new RunContext({ claim, period, scheduledAt, isCatchUp, lock, ledger: this.context });
    if (answer.lost !== undefined) {
      const { attempt: lostAttempt, claimedBy: lostClaim } = answer.lost;
      const event = { ...eventOf(request), run: identityOf(claim) };
      this.context.events.emit('run:takenOver', { ...event, lostAttempt, lostClaim });
    }
    const { policy } = request;
    const own = planned.isOwn ? report.tick : undefined;
    const attempt = new Attempt(this.context, { held, task, run, policy, leaseUntilMs, tick: own });
    const value = await attempt.run();
    return { executed: true, value };
  }

  async #claim<T, R>(
    { held, request, snapshot }: HeldTick<T>,
    planned: PlannedRun<R>,
    claimedBy: string,
  ): Promise<ClaimResult> {
    const { policy, scope, lock } = request;
    const { key: periodKey, start: periodStart, end: periodEnd } = planned.period;
    const claimRequest: ClaimRequest = {
      policy,
      job: policy.job,
      scope,
      periodKey,
      periodStart,
      periodEnd,
      timeZone: planned.timeZone,
      claimedBy,
      isRunningHere: (other) => this.#attempts.has(other),
      lock: held.lock,
      lockId: lockIdOf(this.lockProvider, lock.name),
      leaseMs: longestLeaseMs(lock),
      scheduledAt: planned.isOwn ? snapshot.scheduledAt : undefined,
      isNew: planned.isNew,
    };
    const claiming = this.runStep(request, async () => {
      const answer = await claimRun(this.context, claimRequest);
      if (answer.kind === 'claimed' && isAborted(held.lock)) {
        const limits = { remainingMs: 0, isAbandoned: held.isAbandoned };
        await recordOutcome(this.context, answer.claim, { kind: 'given-back' }, limits);
        held.lock.signal.throwIfAborted();
      }
      return answer;
    });
    return await claiming.catch(async (error: unknown) => {
      if (error instanceof LockStorageError && error.outcome === 'unknown')
        await this.#unclaim(claimRequest, held);
      throw error;
    });
  }

  /** Happens while the lock is held, so that no other instance takes this for the run of a crashed holder. */
  async #unclaim(claimRequest: ClaimRequest, held: HeldLock): Promise<void> {
    try {
      const forMs = Math.min(LONGEST_UNCLAIM_MS, held.lock.remainingMs());
      await unclaimRun(this.context, claimRequest, { forMs, isAbandoned: held.isAbandoned });
    } catch (error) {
      const message = `Could not find out whether ${describeRun(claimRequest)} was claimed. If it was, the attempt counts as lost.`;
      this.context.events.emit('guard:warning', { message, error });
    }
  }

  /** Runs a step that precedes the handler. If it fails, the job does not run, and an event reports it. */
  async runStep<T, R>(request: OncePerRequest<T>, step: () => Promise<R>): Promise<R> {
    try {
      return await step();
    } catch (error) {
      const event = eventOf(request);
      this.context.events.emit('lock:failed', { ...event, willRetry: request.willRetry, error });
      throw error;
    }
  }

  #reportRefusal<T>(
    tick: HeldTick<T>,
    period: Period,
    answer: ClaimResult & { kind: 'refused' },
  ): TaskResult<never> {
    const { lost, reason } = answer;
    // The plan had counted the run as overdue, but it is not.
    if (reason !== 'running-elsewhere' && lost === undefined) tick.report.overdue -= 1;
    if (lost !== undefined) {
      const event = { ...eventOf(tick.request), run: identityOf(lost) };
      if (reason === 'interrupted')
        this.context.events.emit('run:interrupted', { ...event, lostClaim: lost.claimedBy });
      else {
        const error = new ClaimLostError(
          `The holder of attempt ${lost.attempt} of ${describeRun(lost)} crashed, and no attempt is left: the run has failed permanently.`,
        );
        this.context.events.emit('run:failed', { ...event, error, durationMs: 0, isFinal: true });
      }
    }
    return this.reportSkip(tick, period, reason);
  }

  reportSkip<T>({ request, snapshot }: HeldTick<T>, period: Period, reason: SkipReason): TaskResult<never> {
    const { policy, scope } = request;
    const recorded = snapshot.recorded.runs.find(({ periodKey }) => periodKey === period.key);
    const absent = { job: policy.job, scope, periodKey: period.key, generation: 0, attempt: 0 };
    const run = recorded === undefined ? absent : identityOf(recorded);
    this.context.events.emit('run:skipped', { ...eventOf(request), reason, run });
    return { executed: false, reason };
  }
}

function eventOf<T>({ lock, scheduledAt }: OncePerRequest<T>): LockEvent {
  return lockEventOf(lock, scheduledAt);
}

/** The longest time that a lease can last. */
function longestLeaseMs({ renewEveryMs, maxLockDurationMs, lockAtMostForMs }: LockTerms): number {
  return renewEveryMs === undefined ? lockAtMostForMs : maxLockDurationMs;
}
