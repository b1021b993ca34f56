import type { Clock } from 'cronlatch/provider';
import { STARTS_AT_MS, type Scheduler } from './scheduler';

/** A process with its clocks. Nothing reaches it while it is paused, or after it has crashed. */
export class SimulatedHost implements Clock {
  crashed = false;
  wallAheadMs = 0;
  #suspendedMs = 0;
  #resumesAtMs = 0;

  constructor(
    readonly id: number,
    private readonly scheduler: Scheduler,
    /** How many milliseconds its clock advances per real millisecond. */
    readonly rate: number,
    /** Called before every step of this host, which it may crash or pause. */
    private readonly beforeGoingOn: (host: SimulatedHost) => void,
  ) {}

  monotonicMs(): number {
    return (this.scheduler.nowMs - this.#suspendedMs) * this.rate;
  }

  /** It advances at the same rate, and also while the machine is suspended. */
  wallMs(): number {
    return STARTS_AT_MS + (this.scheduler.nowMs - STARTS_AT_MS) * this.rate + this.wallAheadMs;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const dueMs = this.monotonicMs() + delayMs;
    let cancel = (): void => {};
    const arm = (): void => {
      cancel = this.scheduler.after((dueMs - this.monotonicMs()) / this.rate, () =>
        // A suspended machine's timers stand still with its clock.
        this.#goOn(
          () => (this.monotonicMs() < dueMs ? arm() : callback()),
          (again) => (cancel = again),
        ),
      );
    };
    arm();
    return () => cancel();
  }

  /** A message from outside is handled when this host continues. */
  receive(callback: () => void): void {
    this.#goOn(callback, () => {});
  }

  /** @param isSuspended the monotonic clock stands still as well */
  pause(lengthMs: number, isSuspended: boolean): void {
    this.#resumesAtMs = this.scheduler.nowMs + lengthMs;
    if (isSuspended) this.#suspendedMs += lengthMs;
  }

  #goOn(callback: () => void, deferred: (cancel: () => void) => void): void {
    if (!this.crashed && this.scheduler.nowMs >= this.#resumesAtMs) this.beforeGoingOn(this);
    if (this.crashed) return;
    const remainingMs = this.#resumesAtMs - this.scheduler.nowMs;
    if (remainingMs <= 0) callback();
    else deferred(this.scheduler.after(remainingMs, () => this.#goOn(callback, deferred)));
  }
}
