import type { Clock, Moment } from '../clock';

/**
 * How far the wall clock may run ahead of the monotonic one, as a share of the lease. If it runs further ahead, the
 * machine was suspended or the clock was set, and it is unknown how much of the lease has passed.
 */
const LARGEST_JUMP = 1 / 10;

/**
 * How long a holder trusts its lease: for the length of the lease, from just before the statement was sent. The store
 * begins to count when the statement arrives, so that the holder's trust ends first.
 *
 * Elapsed time is taken from the clock that advanced further. The monotonic clock may stop while a machine is
 * suspended, and the wall clock may be set back. If the wall clock jumps ahead by more than a tenth of the lease, the
 * lease ends at once.
 */
export class Deadline {
  private constructor(
    private readonly sentAt: Moment,
    private readonly leaseMs: number,
    private readonly storeStepMs: number,
  ) {}

  /** @param storeStepMs by how much a store may shorten a lease, because its clock has steps */
  static of(sentAt: Moment, leaseMs: number, storeStepMs = 0): Deadline {
    return new Deadline(sentAt, leaseMs, storeStepMs);
  }

  /** The end on the monotonic clock, if the wall clock does not run ahead. */
  get monotonicMs(): number {
    return this.sentAt.monotonicMs + this.#trustedMs;
  }

  get sentAtMs(): number {
    return this.sentAt.monotonicMs;
  }

  /** Zero or less once the lease has ended. */
  remainingMs(clock: Clock): number {
    const { monotonicMs, wallMs } = this.sentAt;
    return this.#trustedMs - Math.max(clock.monotonicMs() - monotonicMs, clock.wallMs() - wallMs);
  }

  /** Why the lease can no longer be trusted; `undefined` while it can. */
  expiryReason(clock: Clock): string | undefined {
    const elapsedMs = clock.monotonicMs() - this.sentAt.monotonicMs;
    const wallElapsedMs = clock.wallMs() - this.sentAt.wallMs;
    const aheadMs = wallElapsedMs - elapsedMs;
    if (elapsedMs < this.#trustedMs && aheadMs > this.leaseMs * LARGEST_JUMP)
      return `this machine was suspended, or its clock was set forward, by ${Math.round(aheadMs)} ms`;
    if (Math.max(elapsedMs, wallElapsedMs) < this.#trustedMs) return undefined;
    return `its lease of ${this.leaseMs} ms has expired`;
  }

  get #trustedMs(): number {
    return this.leaseMs - this.storeStepMs;
  }

  /** The deadline that ends first. */
  earlier(other: Deadline, clock: Clock): Deadline {
    return other.remainingMs(clock) < this.remainingMs(clock) ? other : this;
  }
}
