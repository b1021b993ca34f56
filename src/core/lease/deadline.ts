import type { Clock } from '../clock';

/** One moment on both of the host's clocks. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/**
 * How far the wall clock may run ahead of the monotonic one, as a share of the lease. More is a suspended machine, or a
 * clock that was set: then nobody knows how much of the lease is over.
 */
const LARGEST_JUMP = 1 / 10;

/**
 * How long a holder trusts its lease: until the moment before the statement was sent, plus the lease. The store's
 * own end is later by the way of the statement, so trust ends first.
 *
 * Time passes by the clock that ran further. The monotonic clock may stand still while a machine is suspended, and the
 * wall clock may be set back. A jump of the wall clock of more than a tenth of the lease ends the lease at once.
 */
export class Deadline {
  private constructor(
    private readonly sentAt: Moment,
    private readonly leaseMs: number,
    private readonly storeStepMs: number,
  ) {}

  /** @param storeStepMs how much the store may cut off the beginning of a lease, because its clock has steps */
  static of(sentAt: Moment, leaseMs: number, storeStepMs = 0): Deadline {
    return new Deadline(sentAt, leaseMs, storeStepMs);
  }

  /** The end, if the wall clock does not run ahead. */
  get monotonicMs(): number {
    return this.sentAt.monotonicMs + this.#trustedMs;
  }

  get sentAtMs(): number {
    return this.sentAt.monotonicMs;
  }

  /** Not above zero when the lease is over. */
  remainingMs(clock: Clock): number {
    const { monotonicMs, wallMs } = this.sentAt;
    return this.#trustedMs - Math.max(clock.monotonicMs() - monotonicMs, clock.wallMs() - wallMs);
  }

  /** Why the lease cannot be trusted any more, or `undefined` while it can. */
  passed(clock: Clock): string | undefined {
    const elapsedMs = clock.monotonicMs() - this.sentAt.monotonicMs;
    const aheadMs = clock.wallMs() - this.sentAt.wallMs - elapsedMs;
    if (elapsedMs < this.#trustedMs && aheadMs > this.leaseMs * LARGEST_JUMP)
      return `this machine was suspended, or its clock was set forward, by ${Math.round(aheadMs)} ms`;
    return this.remainingMs(clock) <= 0 ? `it was held for its ${this.leaseMs} ms` : undefined;
  }

  get #trustedMs(): number {
    return this.leaseMs - this.storeStepMs;
  }

  /** The one that ends first. */
  earlier(other: Deadline, clock: Clock): Deadline {
    return other.remainingMs(clock) < this.remainingMs(clock) ? other : this;
  }
}
