import { systemClock } from '../../core';
import type { Entry, LockNodes, OwnNode } from './lock-nodes';

/** How long a node stays in the queue after its waiter has stopped waiting. The waiter may begin again at once. */
const LINGER_MS = 100;

/** The callers of this process that wait for a lock, and their node in its queue. */
interface Waiter {
  readonly lock: string;
  readonly entry: Entry;
  /** The node when it is the first one, and `undefined` when it is gone. */
  place: OwnNode | 'waiting' | undefined;
  /** Resolves when the node does not wait any more. */
  readonly first: Promise<void>;
  callers: number;
  cancelLinger: () => void;
}

/**
 * The waiters of this process, one for each lock. Each has a node in the queue and watches only the node before it, so
 * that a release wakes one of all processes, in the order of their nodes.
 */
export class LockWaiters {
  readonly #waiters = new Map<string, Waiter>();
  /** The nodes that are watched. A watch cannot be cancelled, so waiters share it. */
  readonly #watched = new Map<string, Promise<void>>();

  constructor(private readonly nodes: LockNodes) {}

  async released(lock: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const waiter = this.#waiters.get(lock) ?? this.#start(lock);
    waiter.callers += 1;
    waiter.cancelLinger();
    let stop = (): void => {};
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    signal.addEventListener('abort', stop);
    try {
      await Promise.race([waiter.first, stopped]);
    } finally {
      signal.removeEventListener('abort', stop);
      waiter.callers -= 1;
      if (waiter.callers === 0)
        waiter.cancelLinger = systemClock.schedule(LINGER_MS, () => this.#leave(waiter), {
          keepAlive: false,
        });
    }
  }

  /** Takes the waiter's node. @returns `'waiting'` if it is not the first one, and `undefined` if there is none */
  take(lock: string): OwnNode | 'waiting' | undefined {
    const waiter = this.#waiters.get(lock);
    if (waiter !== undefined && waiter.place !== 'waiting') this.#forget(waiter);
    return waiter?.place;
  }

  close(): void {
    for (const waiter of this.#waiters.values()) this.#leave(waiter);
  }

  #start(lock: string): Waiter {
    const now = new Date(systemClock.wallMs());
    const entry = this.nodes.enter(lock, { lockedAt: now, lockUntil: now });
    const first = this.#untilFirst(lock, entry).then((own) => void (waiter.place = own));
    const waiter: Waiter = { lock, entry, first, place: 'waiting', callers: 0, cancelLinger: () => {} };
    this.#waiters.set(lock, waiter);
    first.catch(() => this.#leave(waiter)); // The callers get the error.
    return waiter;
  }

  /** @returns `undefined` if an operator has deleted the node */
  async #untilFirst(lock: string, { entered }: Entry): Promise<OwnNode | undefined> {
    const own = await entered;
    for (;;) {
      const queue = await this.nodes.queueOf(lock);
      const place = queue.findIndex(({ path }) => path === own.path);
      if (place < 0) return undefined;
      const before = queue[place - 1]?.path;
      if (before === undefined) return { ...own, isFirst: true };
      await (this.#watched.get(before) ?? this.#watch(before));
    }
  }

  #watch(path: string): Promise<void> {
    const deleted = this.nodes.session.deleted(path).finally(() => this.#watched.delete(path));
    this.#watched.set(path, deleted);
    return deleted;
  }

  #leave(waiter: Waiter): void {
    if (this.#waiters.get(waiter.lock) !== waiter) return;
    this.#forget(waiter);
    waiter.entry.abandon();
  }

  #forget(waiter: Waiter): void {
    waiter.cancelLinger();
    this.#waiters.delete(waiter.lock);
  }
}
