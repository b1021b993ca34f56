import type { Clock, Duration } from '../core';
import { parseDuration } from '../core/duration';

interface Timer {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** A clock that stands still until a test moves it. */
export class SettableClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #startMs: number;
  #elapsedMs = 0;
  #wallAheadMs = 0;

  /** @param now the time at the start. Default: the host's time. */
  constructor(now: Date | string | number = Date.now()) {
    this.#startMs = new Date(now).getTime();
    if (Number.isNaN(this.#startMs)) throw new RangeError(`SettableClock: ${String(now)} is not a date.`);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  wallMs(): number {
    return this.#startMs + this.#elapsedMs + this.#wallAheadMs;
  }

  now(): Date {
    return new Date(this.wallMs());
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = { dueMs: this.#elapsedMs + Math.max(0, delayMs), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Lets time pass. Timers fire in order, each at its own time. */
  advance(duration: Duration): void {
    const untilMs = this.#elapsedMs + parseDuration(duration, 'SettableClock.advance');
    for (let timer = this.#nextDue(untilMs); timer !== undefined; timer = this.#nextDue(untilMs)) {
      this.#timers.delete(timer);
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
      timer.callback();
    }
    // A callback may have moved this clock further already.
    this.#elapsedMs = Math.max(this.#elapsedMs, untilMs);
  }

  /** Lets time pass as in a stopped process or a blocked event loop: no timer fires before the next `advance`. */
  stall(duration: Duration): void {
    this.#elapsedMs += parseDuration(duration, 'SettableClock.stall');
  }

  /** Sets the wall clock forward or back. The monotonic clock does not move. */
  jump(milliseconds: number): void {
    this.#wallAheadMs += milliseconds;
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  #nextDue(untilMs: number): Timer | undefined {
    const due = [...this.#timers].filter(({ dueMs }) => dueMs <= untilMs);
    return due.sort((a, b) => a.dueMs - b.dueMs)[0];
  }
}
