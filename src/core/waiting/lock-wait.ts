import type { Clock } from '../clock';
import type { EventHub } from '../execution/event-hub';
import type { Lock, LockObserver, LockProvider } from '../lock';
import type { LockConfiguration } from '../lock-configuration';

export interface WaitContext {
  readonly provider: LockProvider;
  readonly queues: LockQueues;
  readonly clock: Clock;
  readonly events: EventHub;
  /** Between 0 and 1. */
  readonly random: () => number;
}

export interface WaitRequest {
  readonly configuration: LockConfiguration;
  readonly observer: LockObserver;
  /** 0 or `undefined`: a single attempt. Infinity: no limit. */
  readonly waitMs: number | undefined;
  /** Each of them ends the wait. */
  readonly signals: readonly AbortSignal[];
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1000;
/** A notification can be lost, so waiters also poll stores that notify. */
const NOTIFIED_DELAY_MS = 5000;
/** After this many notifications in a row that led to no lock, the waiter pauses after each. */
const MOST_VAIN_NOTIFICATIONS = 3;
/** The end of a wait shortens the time limit of a statement, but never below this. */
const SHORTEST_STATEMENT_TIMEOUT_MS = 1000;

/**
 * Waits for a lock. A grant that arrives after an abort is released.
 *
 * @returns `undefined` if the wait has ended without a lock
 * @throws the reason of the signal that aborted, and the errors of the provider
 */
export async function waitForLock(context: WaitContext, request: WaitRequest): Promise<Lock | undefined> {
  const stop = new AbortController();
  for (const signal of request.signals) signal.throwIfAborted();
  const watches = request.signals.map((signal) => onAbort(signal, () => stop.abort(signal.reason)));
  try {
    const lock = new LockWait(context, request, stop.signal).acquire();
    return await new Promise((resolve, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason as Error));
      lock.then((granted) => {
        if (stop.signal.aborted) void releaseLate(context.queues, request.observer, granted);
        else resolve(granted);
      }, reject);
    });
  } finally {
    for (const stopWatching of watches) stopWatching();
  }
}

/** Never rejects: the caller already has the reason of its signal. */
async function releaseLate(queues: LockQueues, observer: LockObserver, lock?: Lock): Promise<void> {
  try {
    await lock?.unlock();
    if (lock !== undefined) queues.notify(lock.name);
  } catch (error) {
    observer.warning?.(
      `Lock '${lock?.name}' was granted after its caller had stopped waiting, and could not be released. It stays locked until its lease expires.`,
      error,
    );
  }
}

class LockWait {
  readonly #endsAtMs: number;
  /** Whether the provider reports releases. */
  #isNotified: boolean;

  constructor(
    private readonly context: WaitContext,
    private readonly request: WaitRequest,
    private readonly signal: AbortSignal,
  ) {
    this.#endsAtMs = context.clock.monotonicMs() + (request.waitMs ?? 0);
    this.#isNotified = context.provider.released !== undefined;
  }

  async acquire(): Promise<Lock | undefined> {
    if (!this.request.waitMs) return await this.#attempt();
    const place = this.context.queues.enter(this.request.configuration.name);
    try {
      while (!place.isFirst()) {
        if (this.#leftMs() <= 0) return undefined;
        await this.#pause(this.#leftMs(), place.turn);
      }
      return await this.#poll(place);
    } finally {
      place.leave();
    }
  }

  async #poll(place: ReturnType<LockQueues['enter']>): Promise<Lock | undefined> {
    let vainNotifications = 0;
    for (let refusals = 0; ; refusals += 1) {
      const over = new AbortController();
      let wasNotified = false;
      // Watches before it asks, so that no release falls between the two.
      const wakes = [place.nextRelease()];
      if (refusals > 0 && this.#isNotified)
        wakes.push(this.#notification(over.signal).then(() => void (wasNotified = true)));
      try {
        const lock = await this.#attempt();
        if (lock !== undefined || this.#leftMs() <= 0) return lock;
        if (refusals > 0 || !this.#isNotified) await this.#pause(this.#delayMs(refusals), ...wakes);
        vainNotifications = wasNotified ? vainNotifications + 1 : 0;
        if (vainNotifications > MOST_VAIN_NOTIFICATIONS) await this.#pause(FIRST_DELAY_MS);
      } finally {
        over.abort();
      }
    }
  }

  #attempt(): Promise<Lock | undefined> {
    const { configuration, observer, waitMs } = this.request;
    const isLimited = waitMs !== undefined && waitMs < Infinity;
    const statementTimeoutMs = Math.max(SHORTEST_STATEMENT_TIMEOUT_MS, this.#leftMs());
    const limited = isLimited ? { ...observer, statementTimeoutMs } : observer;
    return this.context.provider.lock(configuration, limited);
  }

  /** Never resolves if the provider cannot notify. */
  async #notification(over: AbortSignal): Promise<void> {
    const { name } = this.request.configuration;
    try {
      await this.context.provider.released?.(name, over);
    } catch (error) {
      this.#isNotified = false;
      this.request.observer.warning?.(
        `The lock provider could not watch lock '${name}'. cronlatch polls instead.`,
        error,
      );
      await new Promise(() => {});
    }
  }

  #delayMs(refusals: number): number {
    const longestMs = this.#isNotified
      ? NOTIFIED_DELAY_MS
      : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** refusals);
    // The jitter keeps processes apart that began to wait at the same time.
    return longestMs * (0.5 + this.context.random() / 2);
  }

  #leftMs(): number {
    return this.#endsAtMs - this.context.clock.monotonicMs();
  }

  /** Ends after the delay, with the wait, or when any of the promises resolves. Throws if the signal has aborted. */
  async #pause(delayMs: number, ...wakes: readonly Promise<void>[]): Promise<void> {
    const { signal } = this;
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.context.clock.schedule(Math.min(delayMs, this.#leftMs()), end, { keepAlive: true });
      signal.addEventListener('abort', end);
      for (const wake of wakes) void wake.then(end);
    });
    signal.throwIfAborted();
  }
}

/** The start of the turn of each waiter, in their order. */
type Starts = Set<() => void>;

const queues = new WeakMap<LockProvider, LockQueues>();

/** The waiters of this process, first come, first served per name. Only the first one of a name asks the store. */
export class LockQueues {
  readonly #starts = new Map<string, Starts>();
  readonly #wakes = new Map<string, () => void>();

  /** Managers with the same provider share their queues. */
  static of(provider: LockProvider): LockQueues {
    const known = queues.get(provider) ?? new LockQueues();
    queues.set(provider, known);
    return known;
  }

  enter(name: string) {
    const starts = this.#starts.get(name) ?? new Set();
    this.#starts.set(name, starts);
    let start = (): void => {};
    const turn = new Promise<void>((resolve) => (start = resolve));
    starts.add(start);
    const isFirst = (): boolean => firstOf(starts) === start;
    if (isFirst()) start();
    return {
      isFirst,
      /** Resolves when the place is the first one. */
      turn,
      /** Resolves when this process has released the lock. */
      nextRelease: () => new Promise<void>((resolve) => this.#wakes.set(name, resolve)),
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
  const [first] = starts;
  return first;
}

const abortCallbacks = new WeakMap<EventTarget, Set<() => void>>();

/**
 * Calls back when the signal aborts. All callbacks of a signal share one listener: many waiters often share a signal,
 * and Node warns about a leak from the eleventh listener on.
 *
 * @returns a function that stops watching
 */
function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = abortCallbacks.get(signal) ?? new Set();
  abortCallbacks.set(signal, callbacks.add(callback));
  signal.addEventListener('abort', callBack);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    signal.removeEventListener('abort', callBack);
    abortCallbacks.delete(signal);
  };
}

function callBack({ target }: Event): void {
  const callbacks = target && abortCallbacks.get(target);
  for (const callback of [...(callbacks ?? [])]) callback();
}
