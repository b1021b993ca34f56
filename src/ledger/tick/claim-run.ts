import {
  ClaimLostError,
  LockLostError,
  LockStorageError,
  SchemaMismatchError,
  type Lock,
  type LockedTask,
  type StatementOptions,
  type TaskResult,
} from '../../core';
import { CallReport } from '../../core/execution/event-hub';
import { isAborted } from '../../core/execution/run-registry';
import { newOwner } from '../../core/lease/owner';
import { SeenLocks } from '../../core/lease/seen-locks';
import { unknownOutcome } from '../../core/lease/statements';
import type { LockTerms } from '../../core/lock-configuration';
import type { Period } from '../periods/period';
import { calendarPeriodsOf, type JobPolicy } from '../policy/job-policy';
import { commandText, remedyFor } from '../operator/remedy';
import { describeRun, identityOf, lockIdOf, newRunOf, type Run, type RunKey, type RunPeriod } from '../run';
import type { Decision, FoundRun, NewRun } from '../run-store';
import { limitOf, pauseAfter, retryUntilAnswered, type LedgerContext } from '../store-statements';
import { decideClaim, type ClaimHolder, type ClaimVerdict } from './decide-claim';
import { decideOutcome } from './decide-outcome';
import { recordOutcome } from './record-outcome';
import { Attempt } from './run-attempt';
import { RunContext } from './run-context';
import type { Tick } from './plan-tick';

interface PlannedRun<T> {
  readonly period: Period;
  readonly timeZone: string | undefined;
  /** The snapshot, read before the lock, found no row. */
  readonly isNew: boolean;
  readonly isOwn: boolean;
  readonly task: LockedTask<T>;
}

/** How long a tick tries to settle a claim without an answer. */
const LONGEST_UNCLAIM_MS = 60_000;

export class RunClaimer {
  /** The attempts that are running in this process, by their claims. */
  readonly #attempts = new Set<string>();
  readonly #refused = new SeenLocks();

  constructor(private readonly context: LedgerContext) {}

  async claimAndRun<T, R>(tick: Tick<T>, planned: PlannedRun<R>): Promise<TaskResult<R>> {
    const claimedBy = newOwner(this.context.instance);
    this.#attempts.add(claimedBy);
    const running = this.#claimAndRun(tick, planned, claimedBy);
    return await running.finally(() => this.#attempts.delete(claimedBy));
  }

  async #claimAndRun<T, R>(tick: Tick<T>, planned: PlannedRun<R>, claimedBy: string): Promise<TaskResult<R>> {
    const { held, request, report } = tick;
    const { policy } = request;
    const { period, task, isOwn } = planned;
    const leaseUntilMs = this.context.clock.monotonicMs() + longestLeaseMs(request.lock);
    const result = await this.#claim(tick, planned, claimedBy);
    if (isOwn) tick.isRecorded = true;
    if (result.kind === 'refused') return this.#reportRefusal(tick, period, result);
    const { claim, lost } = result;
    tick.started += 1;
    const run = new RunContext({
      claim,
      period,
      scheduledAt: isOwn ? request.scheduledAt : undefined,
      isCatchUp: isPast(period, tick),
      lock: held.lock,
      ledger: this.context,
      output: this.context.logs?.open(claim),
    });
    const runReport = isOwn ? report : new CallReport(this.context.events, request.lock, request.scheduledAt);
    if (lost !== undefined) {
      const { attempt: lostAttempt, claimedBy: lostClaim } = lost;
      const event = { ...runReport.event, run: identityOf(claim), lostAttempt, lostClaim };
      this.context.events.emit('run:takenOver', event);
    }
    const options = { held, task, run, policy, report: runReport };
    return { executed: true, value: await new Attempt(this.context, options, leaseUntilMs).run() };
  }

  async #claim<T, R>(tick: Tick<T>, planned: PlannedRun<R>, claimedBy: string): Promise<ClaimVerdict> {
    const { held, request, snapshot } = tick;
    const { period, timeZone, isNew, isOwn } = planned;
    const { policy, scope, purpose } = request;
    const reason = isOwn && purpose === 'made-up' ? purpose : undefined;
    const run = { ...newRunOf({ job: policy.job, scope }, period, timeZone), reason };
    const { lock } = held;
    const { lockProvider } = this.context;
    const claimUnder = async (lockId: string): Promise<ClaimVerdict> => {
      const holder: ClaimHolder = {
        claimedBy,
        isRunningHere: (other) => this.#attempts.has(other),
        lockId,
        fencingToken: lock.fencingToken,
        leaseMs: longestLeaseMs(request.lock),
        scheduledAt: isOwn ? snapshot.scheduledAt : undefined,
      };
      const result = await claimRun(this.context, run, holder, { policy, lock, isNew });
      if (result.kind === 'claimed' || result.unproven === undefined) return result;
      // The place of the locks may have got another name since this process read it.
      await lockProvider.refreshId?.();
      const current = lockIdOf(lockProvider, request.lock.name);
      if (current !== lockId) return await claimUnder(current);
      this.#warnOf(result.unproven, lockId, request.lock.name);
      return result;
    };
    const claiming = this.runStep(tick, async () => {
      const result = await claimUnder(lockIdOf(lockProvider, request.lock.name));
      if (result.kind === 'claimed' && isAborted(lock)) {
        const limits = { remainingMs: 0, isAbandoned: held.isAbandoned };
        await recordOutcome(this.context, result.claim, { kind: 'given-back' }, limits);
        lock.signal.throwIfAborted();
      }
      return result;
    });
    return await claiming.catch(async (error: unknown) => {
      if (error instanceof LockStorageError && error.outcome === 'unknown')
        await this.#unclaim(tick, run, claimedBy);
      throw error;
    });
  }

  /**
   * Undoes a claim with an unknown outcome. The run has not started, so no row may stay running under this claim. A row
   * that does is given back. If there is no row yet, a pending one is inserted, which a late insert of the claim then
   * finds. Happens while the lock is held, so that no other instance takes this for the run of a crashed holder.
   */
  async #unclaim<T>({ held }: Tick<T>, run: RunKey & RunPeriod, claimedBy: string): Promise<void> {
    if (held.isAbandoned()) return;
    const { clock, store, events } = this.context;
    const limit = limitOf(this.context);
    const giveBack = (found: FoundRun | undefined): Decision<boolean> => decideGiveBack(found, claimedBy);
    const settle = async (): Promise<void> => {
      while (!(await store.change(run, giveBack, limit)))
        if (await store.insert({ ...run, state: 'pending' }, limit)) return;
    };
    try {
      const giveUpAtMs = clock.monotonicMs() + Math.min(LONGEST_UNCLAIM_MS, held.lock.remainingMs());
      await retryUntilAnswered(this.context, giveUpAtMs, settle, held.isAbandoned);
    } catch (error) {
      const message = `Could not find out whether ${describeRun(run)} was claimed. If it was, the attempt counts as lost.`;
      events.warn(message, error);
    }
  }

  /** Once for each attempt and place: the lock was free, but this does not prove that the holder is gone. */
  #warnOf(run: Run, lockId: string, lockName: string): void {
    if (!this.#refused.isFirstWarning(`${run.claimedBy} ${lockId}`)) return;
    const why =
      run.lockId === lockId
        ? 'a later grant of the lock has claimed the run'
        : 'the run was claimed under another lock, or in another place of the locks';
    const message = `Could not take over ${describeRun(run)} from ${run.claimedBy}, although lock '${lockName}' was free: ${why}. If that process is gone, an instance takes the run over after ${run.leaseUntil?.toISOString()}. To run it again now: ${commandText(remedyFor('rerun', run, { force: true }))}`;
    this.context.events.warn(message);
  }

  /** Runs a step that precedes the handler. If it fails, the job does not run, and an event reports it. */
  async runStep<T, R>(tick: Tick<T>, step: () => Promise<R>): Promise<R> {
    try {
      return await step();
    } catch (error) {
      tick.report.fail(error);
      throw error;
    }
  }

  #reportRefusal<T>(
    tick: Tick<T>,
    period: Period,
    { lost, reason }: ClaimVerdict & { kind: 'refused' },
  ): TaskResult<never> {
    // The plan had counted the run as overdue, but it is not.
    if (reason !== 'running-elsewhere' && lost === undefined) tick.overdue -= 1;
    if (lost !== undefined) {
      const event = { ...tick.report.event, run: identityOf(lost) };
      if (reason === 'interrupted')
        this.context.events.emit('run:interrupted', { ...event, lostClaim: lost.claimedBy });
      else {
        const error = new ClaimLostError(
          `The lease of attempt ${lost.attempt} of ${describeRun(lost)} ended, and no attempt is left: the run has failed permanently.`,
        );
        this.context.events.emit('run:failed', { ...event, error, durationMs: 0, isFinal: true });
      }
    }
    return tick.report.skipRun(tick.runOf(period), reason);
  }
}

function longestLeaseMs({ renewEveryMs, maxLockDurationMs, lockAtMostForMs }: LockTerms): number {
  return renewEveryMs === undefined ? lockAtMostForMs : maxLockDurationMs;
}

function isPast<T>({ start }: Period, { request: { policy }, snapshot }: Tick<T>): boolean {
  const current = policy.periodAt(snapshot.now).start;
  const isOrdered = calendarPeriodsOf(policy) !== undefined;
  return isOrdered && start !== undefined && current !== undefined && start < current;
}

const MOST_TRIES = 6;

/**
 * Claims a run for the holder of the lock: inserts its row, or locks and changes the existing one. Contention is
 * retried. After a lost reply, the row itself shows whether the claim is ours.
 *
 * @throws LockStorageError if it is not certain that the run was claimed
 * @throws LockLostError if the lease ended before the run was claimed
 */
async function claimRun(
  context: LedgerContext,
  run: RunKey & RunPeriod & Pick<NewRun, 'reason'>,
  holder: ClaimHolder,
  { policy, lock, isNew }: { policy: JobPolicy; lock: Lock; isNew: boolean },
): Promise<ClaimVerdict> {
  const started = { state: 'running', started: holder, ...run } as const;
  let mayInsert = isNew;
  let mayBeOurs = false;
  for (let tries = 1; ; tries += 1) {
    if (isAborted(lock)) lock.signal.throwIfAborted();
    try {
      if (mayInsert && (await context.store.insert(started, limitWithin(context, lock)))) {
        const claim = { ...identityOf({ ...run, generation: 0, attempt: 1 }), claimedBy: holder.claimedBy };
        return { kind: 'claimed', claim };
      }
      const verdict = await context.store.change(
        run,
        (found) => {
          const decision = decideClaim(found, holder, policy);
          // The claim may have waited longer than its lease lasts. While the row is locked, no other process can take
          // over.
          if (decision.write !== undefined) remainingLeaseMs(lock);
          return decision;
        },
        limitWithin(context, lock),
      );
      if (verdict !== undefined) return verdict;
      mayInsert = true; // The row was deleted meanwhile, or the insert has not arrived.
      if (tries >= MOST_TRIES)
        throw new LockStorageError(
          `Could not claim ${describeRun(run)}: another process keeps creating and deleting its row.`,
        );
    } catch (error) {
      if (!(error instanceof LockStorageError) || error instanceof SchemaMismatchError) throw error;
      mayBeOurs ||= error.outcome === 'unknown';
      const isTransient = mayBeOurs || error.outcome !== 'nothing-ran';
      if (!isTransient || tries >= MOST_TRIES) throw mayBeOurs ? unknownOutcome(error) : error;
      // Reads the row before another insert.
      mayInsert = false;
      await pauseAfter(context, tries);
    }
  }
}

/** The claim is useless once the lease has ended. */
function limitWithin(context: LedgerContext, lock: Lock): StatementOptions {
  return { timeoutMs: Math.min(limitOf(context).timeoutMs, remainingLeaseMs(lock)) };
}

/** @throws LockLostError if the lease has ended */
function remainingLeaseMs(lock: Lock): number {
  const remainingMs = lock.remainingMs();
  if (remainingMs > 0) return remainingMs;
  lock.signal.throwIfAborted();
  throw new LockLostError(`The lease of lock '${lock.name}' ended before its run was claimed.`);
}

/** @returns whether there is a row */
function decideGiveBack(found: FoundRun | undefined, claimedBy: string): Decision<boolean> {
  if (found === undefined) return { value: false };
  const claim = { ...identityOf(found.run), claimedBy };
  const { write, events } = decideOutcome(found, claim, { kind: 'given-back' });
  return { value: true, write, events };
}
