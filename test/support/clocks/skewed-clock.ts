import type { Clock } from 'cronlatch/provider';

/** A host whose wall clock is wrong by the given time. */
export class SkewedClock implements Clock {
  skewMs = 0;

  constructor(private readonly right: Clock) {}

  monotonicMs(): number {
    return this.right.monotonicMs();
  }

  wallMs(): number {
    return this.right.wallMs() + this.skewMs;
  }

  schedule(...call: Parameters<Clock['schedule']>): () => void {
    return this.right.schedule(...call);
  }
}
