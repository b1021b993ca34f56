/**
 * slots/: the runs of schedulers that elect one instance for each scheduled time, such as node-cron's distributed
 * tasks.
 *
 * Such a scheduled time is a slot. The instance that inserts the slot's row is elected, and the row stays. A slot has
 * one attempt and no retry, and it takes no lock. If the instance crashes, the next elected one marks the run as
 * interrupted after its lease.
 */
import { InvalidLockUseError, type SkipReason } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import type { RunRegistry } from '../../core/execution/run-registry';
import { checkStoredName } from '../../core/lock-name';
import { identityOf, LONGEST_KEY } from '../run';
import type { LedgerContext } from '../store-statements';
import { ANSWER_WITHIN_MS, claimSlot } from './claim-slot';
import {
  newSlotClaim,
  slotEventOf,
  slotKeyOf,
  slotRunEventOf,
  type Cancellation,
  type OpenSlot,
  type Slot,
} from './slot';
import { interruptExpiredSlots, SlotOutcomes, type SlotEnd } from './slot-outcomes';

const EXPIRY_CHECK_INTERVAL_MS = 60_000;
const UNCONFIRMED: Cancellation = {
  reason: 'unconfirmed',
  error: `It did not start: the store did not confirm the claim within ${ANSWER_WITHIN_MS / 1000} s.`,
};

/** The slots of one guard: elects an instance for each, and records their outcomes. */
export class SlotRuns {
  readonly #open = new Map<string, OpenSlot>();
  /** When the expired slots of a job were last checked. */
  readonly #expiryCheckedAtMs = new Map<string, number>();
  readonly #outcomes: SlotOutcomes;

  constructor(
    private readonly context: LedgerContext,
    private readonly runs: RunRegistry,
    private readonly guard: {
      readonly isOncePerJob: (name: string) => boolean;
      /** Throws an InvalidLockConfigurationError if the function of `standby` fails. */
      readonly isOnStandby: () => boolean;
    },
  ) {
    this.#outcomes = new SlotOutcomes(context);
  }

  /**
   * Refuses the names that `elect` would refuse.
   *
   * @throws InvalidLockConfigurationError for a name that the ledger cannot store
   * @throws InvalidLockUseError for the name of a once-per job, whose rows would be taken for slots
   */
  check(job: string): void {
    checkStoredName(job, { as: 'the name of a distributed task', longest: LONGEST_KEY });
    if (!this.guard.isOncePerJob(job)) return;
    throw new InvalidLockUseError(
      `Distributed task '${job}' has the name of a once-per job: give one of them another name.`,
    );
  }

  /**
   * @param leaseMs after this time, a run without an outcome counts as lost
   * @returns whether this instance runs the slot. Only one instance ever does.
   * @throws LockStorageError if the store has not confirmed the election within 4 s: the slot must not run
   * @throws InvalidLockConfigurationError if the function of `standby` fails
   */
  async elect(slot: Slot, leaseMs: number): Promise<boolean> {
    const { job } = slot;
    this.check(job);
    parsePositiveDuration(leaseMs, `The lease of task '${job}'`);
    const { context, runs } = this;
    const key = slotKeyOf(slot);
    const refusal = this.#refusal(slot);
    if (refusal !== undefined) return this.#refuse(slot, refusal);
    const claim = newSlotClaim(slot, this.context.instance);
    const active = runs.begin(key);
    const answer = await claimSlot(context, claim, leaseMs);
    const open: OpenSlot = { slot, claim, active, beganAtMs: context.clock.monotonicMs(), hasEnded: false };
    switch (answer.kind) {
      case 'elected':
        this.#open.set(key, open);
        void this.#interruptExpired(job);
        if (!runs.closing) return true;
        this.cancel(slot, { reason: 'closing', error: 'It did not start: the guard was closing.' });
        return false;
      case 'taken': {
        this.#close(open);
        const skipped = { run: { ...identityOf(claim), attempt: 0 }, reason: 'running-elsewhere' } as const;
        context.events.emit('run:skipped', { ...slotEventOf(slot), ...skipped });
        this.#reportTick(slot, { outcome: 'skipped', ...skipped });
        return false;
      }
      case 'unknown':
        context.events.emit('lock:failed', { ...slotEventOf(slot), willRetry: false, error: answer.error });
        this.#reportTick(slot, { outcome: 'lock-failed', error: answer.error });
        if (answer.mayBeOurs)
          void this.#outcomes.recordCancellation(open, UNCONFIRMED).finally(() => this.#close(open));
        else this.#close(open);
        throw answer.error;
    }
  }

  /** @throws InvalidLockConfigurationError if it is not known whether the instance is on standby. Events report it. */
  #refusal(slot: Slot): SkipReason | undefined {
    try {
      if (this.guard.isOnStandby()) return 'standby';
    } catch (error) {
      this.context.events.emit('lock:failed', { ...slotEventOf(slot), willRetry: false, error });
      this.#reportTick(slot, { outcome: 'lock-failed', error });
      throw error;
    }
    return this.runs.refusal(slotKeyOf(slot));
  }

  #refuse(slot: Slot, reason: SkipReason): false {
    const nobody = { heldBy: undefined, heldUntil: undefined };
    const event = { ...slotEventOf(slot), reason, willRetry: false, ...nobody };
    this.context.events.emit('lock:skipped', event);
    this.#reportTick(slot, { outcome: 'skipped', reason });
    return false;
  }

  /** @returns `false` for a slot for which this instance was not elected */
  begun(slot: Slot): boolean {
    const open = this.#open.get(slotKeyOf(slot));
    if (open === undefined) return false;
    const { clock, events } = this.context;
    open.beganAtMs = clock.monotonicMs();
    const started = { ...slotRunEventOf(open), fencingToken: undefined };
    events.emit('run:started', started);
    const ended = async (): Promise<void> => {
      await open.active.settled;
      if (open.failure !== undefined) throw open.failure.error;
    };
    void this.runs.observe(started, ended).catch(() => {}); // Its error was reported as run:failed.
    return true;
  }

  completed(slot: Slot, value: unknown): void {
    const open = this.#markEnded(slot);
    if (open !== undefined) this.#end(open, this.#outcomes.recordCompleted(open, value));
  }

  failed(slot: Slot, error: unknown): void {
    const open = this.#markEnded(slot);
    if (open === undefined) return;
    open.failure = { error };
    this.#end(open, this.#outcomes.recordFailed(open, error));
  }

  /** This instance was elected but will not run the slot, and no other instance will. */
  cancel(slot: Slot, why: Cancellation): void {
    const open = this.#markEnded(slot);
    if (open !== undefined) this.#end(open, this.#outcomes.recordCancellation(open, why));
  }

  /**
   * The slot has ended with an unknown outcome, so it has no `tick` event. Its row stays running until its lease ends,
   * and is then interrupted.
   *
   * @returns `false` if its outcome was reported before
   */
  unknownEnd(slot: Slot): boolean {
    const open = this.#markEnded(slot);
    if (open !== undefined) this.#close(open);
    return open !== undefined;
  }

  #markEnded(slot: Slot): OpenSlot | undefined {
    const open = this.#open.get(slotKeyOf(slot));
    if (open === undefined || open.hasEnded) return undefined;
    open.hasEnded = true;
    return open;
  }

  /** A closing guard waits until the outcome is recorded. */
  #end(open: OpenSlot, recorded: Promise<SlotEnd>): void {
    void recorded.then((end) => this.#reportTick(open.slot, end)).finally(() => this.#close(open));
  }

  #reportTick(slot: Slot, end: SlotEnd): void {
    this.context.events.emit('tick', { ...slotEventOf(slot), ...end });
  }

  #close(open: OpenSlot): void {
    this.#open.delete(slotKeyOf(open.slot));
    this.runs.end(open.active);
  }

  /** An elected instance interrupts the expired slots of its predecessors, once a minute at most. */
  async #interruptExpired(job: string): Promise<void> {
    const { context } = this;
    const nowMs = context.clock.monotonicMs();
    if (nowMs - (this.#expiryCheckedAtMs.get(job) ?? -Infinity) < EXPIRY_CHECK_INTERVAL_MS) return;
    this.#expiryCheckedAtMs.set(job, nowMs);
    const here = new Set([...this.#open.values()].map(({ claim }) => claim.claimedBy));
    try {
      const isRunningHere = (claimedBy: string | undefined): boolean =>
        claimedBy !== undefined && here.has(claimedBy);
      for (const run of await interruptExpiredSlots(context, job, isRunningHere)) {
        const event = { ...slotEventOf({ job, at: new Date(run.periodKey) }), run: identityOf(run) };
        context.events.emit('run:interrupted', { ...event, lostClaim: run.claimedBy });
      }
    } catch (error) {
      if (this.runs.closing) return; // The next elected instance checks again.
      const message = `Could not find the lost runs of '${job}'. The next elected instance retries.`;
      context.events.emit('guard:warning', { message, error });
    }
  }
}
