import type { LockProvider } from '../lock';

/** A waiter's place in the queue of one lock. */
export interface QueuePlace {
  isFirst(): boolean;
  /** Resolves when the place is the first one. */
  readonly turn: Promise<void>;
  /** Resolves when this process has released the lock. */
  nextRelease(): Promise<void>;
  leave(): void;
}

/** The start of the turn of each waiter, in their order. */
type Starts = Set<() => void>;

const queues = new WeakMap<LockProvider, LockQueues>();

/** The waiters of this process, first come, first served per name. Only the first one of a name asks the store. */
export class LockQueues {
  readonly #starts = new Map<string, Starts>();
  /** Wakes the first waiter of each name. */
  readonly #wakes = new Map<string, () => void>();

  /** Managers with the same provider share their queues. */
  static of(provider: LockProvider): LockQueues {
    const known = queues.get(provider) ?? new LockQueues();
    queues.set(provider, known);
    return known;
  }

  enter(name: string): QueuePlace {
    const starts = this.#starts.get(name) ?? new Set();
    this.#starts.set(name, starts);
    let start = (): void => {};
    const turn = new Promise<void>((resolve) => (start = resolve));
    starts.add(start);
    const isFirst = (): boolean => firstOf(starts) === start;
    if (isFirst()) start();
    return {
      isFirst,
      turn,
      nextRelease: () => new Promise((resolve) => this.#wakes.set(name, resolve)),
      leave: () => this.#leave(name, starts, start),
    };
  }

  /** Wakes the first waiter, because this process has released the lock. */
  notify(name: string): void {
    this.#wakes.get(name)?.();
  }

  #leave(name: string, starts: Starts, start: () => void): void {
    const wasFirst = firstOf(starts) === start;
    starts.delete(start);
    if (!wasFirst) return;
    this.#wakes.delete(name);
    if (starts.size === 0) this.#starts.delete(name);
    else firstOf(starts)?.();
  }
}

function firstOf(starts: Starts): (() => void) | undefined {
  for (const first of starts) return first;
  return undefined;
}
