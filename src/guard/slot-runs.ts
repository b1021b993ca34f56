import { InvalidLockUseError } from '../core';
import { parsePositiveDuration } from '../core/duration';
import { checkStoredName } from '../core/lock-name';
import { claimSlot } from '../ledger/slots/claim-slot';
import type { NotBegun } from '../ledger/slots/decide-slot';
import { interruptLapsedSlots } from '../ledger/slots/lapsed-slots';
import { identityOf } from '../ledger/run';
import type { OncePerJobs } from './once-per-jobs';
import { eventOf, keyOf, newClaim, runEventOf, type OpenSlot, type Slot } from './slot';
import { SlotEnds } from './slot-ends';

/** As wide as the column. */
const LONGEST_NAME = 64;
/** node-cron gives up after 5 s what a task in a process of its own has asked. */
const ANSWER_WITHIN_MS = 4000;
const LOOK_FOR_LAPSED_EVERY_MS = 60_000;
const UNCONFIRMED: NotBegun = {
  reason: 'unconfirmed',
  error: `It was not begun: the store did not confirm the claim within ${ANSWER_WITHIN_MS / 1000} s.`,
};

/** The slots of schedulers that elect one of their instances for each: one row a slot, which is never released. */
export class SlotRuns {
  readonly #open = new Map<string, OpenSlot>();
  /** When it was last looked for lapsed slots of a job. */
  readonly #lookedAtMs = new Map<string, number>();
  readonly #ends: SlotEnds;

  constructor(private readonly jobs: OncePerJobs) {
    this.#ends = new SlotEnds(jobs.context);
  }

  /**
   * What `elect` would refuse.
   *
   * @throws InvalidLockConfigurationError for a name that the ledger cannot keep
   * @throws InvalidLockUseError for that of a job that runs once per period: its rows would be taken for slots
   */
  check(job: string): void {
    checkStoredName(job, { as: 'the name of a distributed task', longest: LONGEST_NAME });
    if (this.jobs.registered.get(job) === undefined) return;
    throw new InvalidLockUseError(
      `'${job}' is a job that runs once per period, and cannot be a distributed task as well: give one of them another name.`,
    );
  }

  /**
   * @param leaseMs a run that has not ended by then is taken for lost
   * @returns whether this instance is to run the slot: of all that ask, ever, one is
   * @throws LockStorageError when that is not known after 4 s: it must not run
   */
  async elect(slot: Slot, leaseMs: number): Promise<boolean> {
    const { job } = slot;
    this.check(job);
    parsePositiveDuration(leaseMs, `The lease of task '${job}'`);
    const { context, lockExecutor } = this.jobs;
    const key = keyOf(slot);
    const refusal = lockExecutor.runs.refusal(key);
    if (refusal !== undefined) {
      const told = { reason: refusal, isAskedAgain: false, heldBy: undefined, heldUntil: undefined };
      context.events.emit('lock:skipped', { ...eventOf(slot), ...told });
      return false;
    }
    const claim = newClaim(slot);
    const active = lockExecutor.runs.begin(key);
    const answer = await claimSlot(context, { claim, leaseMs, withinMs: ANSWER_WITHIN_MS });
    const open: OpenSlot = { slot, claim, active, beganAtMs: context.clock.monotonicMs(), isOver: false };
    switch (answer.kind) {
      case 'elected':
        this.#open.set(key, open);
        void this.#lookForLapsed(job);
        if (!lockExecutor.runs.closing) return true;
        this.notBegun(slot, { reason: 'closing', error: 'It was not begun: the guard was closing.' });
        return false;
      case 'taken':
        this.#close(open);
        context.events.emit('run:skipped', {
          ...eventOf(slot),
          run: { ...identityOf(claim), attempt: 0 },
          reason: 'running-elsewhere',
        });
        return false;
      case 'unknown':
        context.events.emit('lock:failed', { ...eventOf(slot), isAskedAgain: false, error: answer.error });
        if (answer.mayBeOurs) this.#end(open, this.#ends.notBegun(open, UNCONFIRMED));
        else this.#close(open);
        throw answer.error;
    }
  }

  /** @returns `false` for a slot that this instance was not elected for */
  begun(slot: Slot): boolean {
    const open = this.#open.get(keyOf(slot));
    if (open === undefined) return false;
    const { context } = this.jobs;
    open.beganAtMs = context.clock.monotonicMs();
    context.events.emit('run:started', { ...runEventOf(open), fencingToken: undefined });
    return true;
  }

  completed(slot: Slot, value: unknown): void {
    const open = this.#over(slot);
    if (open !== undefined) this.#end(open, this.#ends.completed(open, value));
  }

  failed(slot: Slot, error: unknown): void {
    const open = this.#over(slot);
    if (open !== undefined) this.#end(open, this.#ends.failed(open, error));
  }

  /** It was elected, but will not run: neither does anybody else. */
  notBegun(slot: Slot, why: NotBegun): void {
    const open = this.#over(slot);
    if (open !== undefined) this.#end(open, this.#ends.notBegun(open, why));
  }

  /**
   * It is over, and nobody tells how: its row stays running until its lease ends, and is interrupted then.
   *
   * @returns `false` when its end was told before
   */
  unknownEnd(slot: Slot): boolean {
    const open = this.#over(slot);
    if (open !== undefined) this.#close(open);
    return open !== undefined;
  }

  #over(slot: Slot): OpenSlot | undefined {
    const open = this.#open.get(keyOf(slot));
    if (open === undefined || open.isOver) return undefined;
    open.isOver = true;
    return open;
  }

  /** A guard that closes waits until it is recorded. */
  #end(open: OpenSlot, recorded: Promise<void>): void {
    void recorded.finally(() => this.#close(open));
  }

  #close(open: OpenSlot): void {
    this.#open.delete(keyOf(open.slot));
    this.jobs.lockExecutor.runs.end(open.active);
  }

  /** Whoever was elected looks after those that were before, once a minute at most. */
  async #lookForLapsed(job: string): Promise<void> {
    const { context } = this.jobs;
    const nowMs = context.clock.monotonicMs();
    if (nowMs - (this.#lookedAtMs.get(job) ?? -Infinity) < LOOK_FOR_LAPSED_EVERY_MS) return;
    this.#lookedAtMs.set(job, nowMs);
    const here = new Set([...this.#open.values()].map(({ claim }) => claim.claimedBy));
    try {
      const isHere = (claimedBy: string | undefined): boolean =>
        claimedBy !== undefined && here.has(claimedBy);
      for (const run of await interruptLapsedSlots(context, job, isHere)) {
        const event = { name: job, scheduledAt: new Date(run.periodKey), run: identityOf(run) };
        context.events.emit('run:interrupted', { ...event, lostClaim: run.claimedBy });
      }
    } catch (error) {
      if (this.jobs.lockExecutor.runs.closing) return; // Whoever is elected next looks again.
      const message = `It could not be looked up which runs of '${job}' were lost; that is tried again.`;
      context.events.emit('guard:warning', { message, error });
    }
  }
}
