import type { Clock } from './clock';

/** One moment on both of the host's clocks. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/**
 * How long a holder trusts its lease: until the moment before the statement was sent, plus the lease. The store's
 * own end is later by the way of the statement, so trust ends first.
 */
export class Deadline {
  private constructor(
    private readonly sentAt: Moment,
    private readonly leaseMs: number,
  ) {}

  static of(sentAt: Moment, leaseMs: number): Deadline {
    return new Deadline(sentAt, leaseMs);
  }

  get monotonicMs(): number {
    return this.sentAt.monotonicMs + this.leaseMs;
  }

  get sentAtMs(): number {
    return this.sentAt.monotonicMs;
  }

  /** Why the lease cannot be trusted any more, or `undefined` while it can. */
  passed(clock: Clock): string | undefined {
    const elapsedMs = clock.monotonicMs() - this.sentAt.monotonicMs;
    if (elapsedMs >= this.leaseMs) return `it was held for its ${this.leaseMs} ms`;
    // A machine that was suspended may stop its monotonic clock; the wall clock then runs ahead of it.
    const aheadMs = clock.wallMs() - this.sentAt.wallMs - elapsedMs;
    return aheadMs > this.leaseMs
      ? `this machine seems to have been suspended for ${Math.round(aheadMs)} ms`
      : undefined;
  }

  earlier(other: Deadline): Deadline {
    return other.monotonicMs < this.monotonicMs ? other : this;
  }
}
