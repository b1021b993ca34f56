import type { Duration } from '../duration';
import type { Lock } from '../lock';

/** Never rejects. */
type ExtensionListener = (lock: Lock) => Promise<void>;

/**
 * The lock as a handler sees it: its signal also aborts when the handler is asked to stop.
 */
export class RunLock implements Lock {
  readonly name: string;
  readonly #lease: Lock;
  readonly #stopSignal: AbortSignal;
  #signal: AbortSignal | undefined;
  #extensionListeners: Set<ExtensionListener> | undefined;

  constructor(lease: Lock, stopSignal: AbortSignal) {
    this.name = lease.name;
    this.#lease = lease;
    this.#stopSignal = stopSignal;
  }

  get fencingToken(): number | undefined {
    return this.#lease.fencingToken;
  }

  get signal(): AbortSignal {
    const { signal } = this.#lease;
    // Reading the lease's own signal checks the clock, and aborts ours too if the lease has expired.
    if (signal.aborted) return signal;
    return (this.#signal ??= AbortSignal.any([signal, this.#stopSignal]));
  }

  // Fields: a handler may take them out of the lock, as in `({ signal, extend }) => …`.
  readonly remainingMs = (): number => this.#lease.remainingMs();
  readonly unlock = (): Promise<boolean> => this.#lease.unlock();
  readonly extend = async (lockAtMostFor: Duration): Promise<boolean> => {
    const isExtended = await this.#lease.extend(lockAtMostFor);
    if (isExtended) for (const listener of this.#extensionListeners ?? []) await listener(this);
    return isExtended;
  };
  afterExtensions(listener: ExtensionListener): () => void {
    const listeners = (this.#extensionListeners ??= new Set());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  readonly [Symbol.asyncDispose] = (): PromiseLike<void> => this.#lease[Symbol.asyncDispose]();
}

/**
 * Calls the listener before the handler hears that its extension holds. Renewals by `keepAlive` are not reported.
 *
 * @param lock as the handler sees it
 * @returns a function that removes the listener
 */
export function afterExtensions(lock: Lock, listener: ExtensionListener): () => void {
  return lock instanceof RunLock ? lock.afterExtensions(listener) : () => {};
}
