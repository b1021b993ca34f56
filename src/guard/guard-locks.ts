import {
  InvalidLockConfigurationError,
  InvalidLockUseError,
  type Clock,
  type Duration,
  type EventHub,
  type LockPage,
  type LockProvider,
  type LockState,
} from '../core';
import { describeValue } from '../core/options';
import { DAY_MS, parseDuration } from '../core/duration';
import { isHoldOwner, LONGEST_HOLD_OWNER, newHoldOwner } from '../core/lease/hold-owner';

/** Who releases or holds a lock, and why. The event `lock:forced`, the log and the record of a hold show both. */
export interface ForcedRelease {
  readonly actor: string;
  readonly reason: string;
}

const LONGEST_HOLD_MS = 365 * DAY_MS;

/** Lets an operator look at the locks of a guard, end one, and hold one. */
export class GuardLocks {
  constructor(
    private readonly provider: LockProvider,
    private readonly events: EventHub,
    private readonly clock: Clock,
  ) {}

  /**
   * Lists locks in the store's order of their names, held and free. For the next part of a long list, pass the last name
   * as `after`.
   *
   * @throws InvalidLockUseError if the lock provider cannot list its locks
   * @throws LockStorageError if the store fails
   */
  async list(page: LockPage = {}): Promise<readonly LockState[]> {
    return await this.#method('list')(page);
  }

  /**
   * @returns `undefined` if the store has no record of this name, so the lock is free
   * @throws InvalidLockUseError if the lock provider cannot show its locks
   * @throws LockStorageError if the store fails
   */
  async inspect(name: string): Promise<LockState | undefined> {
    return await this.#method('inspect')(name);
  }

  /**
   * Ends the lease of another holder now, even during its `lockAtLeastFor`. Another instance can then take the lock, with a
   * higher fencing token. The holder is not stopped: its signal aborts when its next renewal or extension finds the lock
   * lost, and without `keepAlive` only when its lease would have ended. So first make sure that it has stopped.
   *
   * @param release.owner releases only this holder: `lockedBy`, as last read. Default: the current holder
   * @returns `false` if no process held the lock, or another holder had taken it meanwhile
   * @throws InvalidLockUseError without an actor or a reason, or if the lock provider cannot release by force
   * @throws LockStorageError if the store did not confirm the release
   */
  async release(
    name: string,
    release: ForcedRelease & { readonly owner?: string | undefined },
  ): Promise<boolean> {
    return await this.#release(name, release, () => true);
  }

  /**
   * Takes a lock, so that no instance runs its jobs until then, not even an instance of ShedLock for Java. Their ticks are
   * skipped as `locked`, and `heldBy` is `hold/ACTOR/REASON/` with the time of this call. Overdue runs start after the end of
   * the hold. The hold outlives this process. Nothing renews it.
   *
   * A job that is running is not interrupted: its lock cannot be held before it ends.
   *
   * @param hold.until at most 365 days from now. The store counts the time that is left by this host's clock.
   * @returns `false` if another holder has the lock, or an operator holds it
   * @throws InvalidLockConfigurationError for an invalid name, actor, reason or time
   * @throws InvalidLockUseError if the lock provider's locks end with the process that took them
   * @throws LockStorageError if it is not certain that the lock is held
   */
  async hold(
    name: string,
    { until, actor, reason }: ForcedRelease & { readonly until: Date },
  ): Promise<boolean> {
    const now = this.clock.wallMs();
    const owner = holdOwnerOf(name, { actor, reason }, new Date(now));
    const lockAtMostFor = until instanceof Date ? until.getTime() - now : NaN;
    if (!(lockAtMostFor > 0 && lockAtMostFor <= LONGEST_HOLD_MS))
      throw new InvalidLockConfigurationError(
        `Cannot hold lock '${name}' until ${describeValue(until)}: pass a Date in the future, at most 365 days from now.`,
      );
    if (this.provider.hold !== undefined) return await this.provider.hold(name, { owner, lockAtMostFor });
    throw new InvalidLockUseError(
      `Cannot hold lock '${name}': this guard's lock provider has no method 'hold'. Locks of ZooKeeper and row locks cannot outlive the process that took them.`,
    );
  }

  /**
   * Ends the hold of an operator now.
   *
   * @returns `false` if no operator holds the lock: nothing was changed
   * @throws as `release` does
   */
  async unhold(name: string, { actor, reason }: ForcedRelease): Promise<boolean> {
    return await this.#release(name, { actor, reason }, isHoldOwner);
  }

  /**
   * Deletes the records of locks that ended at least `olderThan` ago: those of crashed holders, and those that
   * `lockAtLeastFor` had kept. Only for a lock provider with `keepRows: false`, whose other records a release deletes.
   *
   * @returns how many records it has deleted
   * @throws InvalidLockUseError if the lock provider keeps its records
   * @throws LockStorageError if the store fails. Some records may be deleted.
   */
  async purge({ olderThan }: { readonly olderThan: Duration }): Promise<number> {
    return await this.#method('purge')(parseDuration(olderThan, 'olderThan of guard.locks.purge'));
  }

  async #release(
    name: string,
    { actor, reason, owner }: ForcedRelease & { readonly owner?: string | undefined },
    mayRelease: (lockedBy: string) => boolean,
  ): Promise<boolean> {
    for (const [option, text] of Object.entries({ actor, reason }))
      if (typeof text !== 'string' || text.trim() === '')
        throw new InvalidLockUseError(
          `Cannot release lock '${name}': ${option} is ${describeValue(text)}. Pass { actor, reason }, which the log shows.`,
        );
    const [inspect, forceRelease] = [this.#method('inspect'), this.#method('forceRelease')];
    const state = await inspect(name);
    if (!state?.isHeld || !mayRelease(state.lockedBy)) return false;
    if (!(await forceRelease(name, owner ?? state.lockedBy))) return false;
    const { lockedBy: heldBy, lockUntil: heldUntil } = state;
    this.events.emit('lock:forced', { name, scheduledAt: undefined, heldBy, heldUntil, actor, reason });
    return true;
  }

  #method<M extends 'inspect' | 'list' | 'forceRelease' | 'purge'>(method: M): NonNullable<LockProvider[M]> {
    const found = this.provider[method];
    if (found !== undefined) return found.bind(this.provider) as NonNullable<LockProvider[M]>;
    throw new InvalidLockUseError(
      `This guard's lock provider cannot do that with its locks: it has no method '${method}'.`,
    );
  }
}

function holdOwnerOf(name: string, { actor, reason }: ForcedRelease, since: Date): string {
  for (const [option, text] of Object.entries({ actor, reason }))
    if (typeof text !== 'string' || text.trim() === '' || /\p{Cc}/u.test(text) || !text.isWellFormed())
      throw new InvalidLockConfigurationError(
        `Cannot hold lock '${name}': ${option} is ${describeValue(text)}. Pass a text without control characters, which the record shows.`,
      );
  const owner = newHoldOwner(actor, reason, since);
  if (owner.length <= LONGEST_HOLD_OWNER) return owner;
  throw new InvalidLockConfigurationError(
    `Cannot hold lock '${name}': actor and reason are ${owner.length - LONGEST_HOLD_OWNER} characters too long for the record together. Shorten them.`,
  );
}
