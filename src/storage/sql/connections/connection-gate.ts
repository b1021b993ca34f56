import type { Clock } from '../../../core';
import { SqlExecutionError, type ExecuteOptions } from './sql-executor';

/** A statement that does not wait for a locked row is far quicker. */
const STALLED_AFTER_MS = 200;

/** A timer that is so late shows that the process itself was busy. */
const BUSY_FOR_MS = 100;

export interface GateSize {
  readonly size: number;
  /** Connections beyond `size`, used while requests wait. */
  readonly spare?: number;
  /** For the error of a request that waited in vain: what uses the connections, and what to do. */
  readonly whenFull?: string | undefined;
}

type GateRequest = Pick<ExecuteOptions, 'urgent' | 'holdsLock' | 'timeoutMs' | 'sinceMs'>;

interface Waiter {
  readonly sinceMs: number;
  readonly admit: () => void;
}

/**
 * Decides which request gets the next connection. Requests that a lease depends on (extend, unlock, resolve) come first,
 * then the writes of runs whose lock is held, then all others, each in the order of arrival. If there are at least two
 * connections, only the first kind takes the last free one.
 *
 * A statement that waits for a locked row keeps its connection for seconds. So if no request was admitted for a while, the
 * next one borrows a spare connection, which is returned as soon as no request waits. A long queue of quick statements
 * borrows nothing.
 */
export class ConnectionGate {
  readonly #urgent = new Set<Waiter>();
  readonly #ofHolders = new Set<Waiter>();
  readonly #others = new Set<Waiter>();
  readonly #keptFree: number;
  readonly #hint: string;
  #free: number;
  #spare: number;
  #borrowed = 0;
  #admittedAtMs = 0;
  #cancelWatch: (() => void) | undefined;

  constructor(
    { size, spare = 0, whenFull }: GateSize,
    private readonly clock: Clock,
  ) {
    this.#free = size;
    this.#hint = whenFull === undefined ? '' : `: ${whenFull}`;
    this.#spare = spare;
    this.#keptFree = size >= 2 ? 1 : 0;
  }

  /**
   * Takes a connection. Call `leave` once when it is free again.
   *
   * @returns `undefined` if the request does not have to wait
   * @throws SqlExecutionError with progress `not-sent` if no connection was free within the limit
   */
  enter(request: GateRequest): Promise<void> | undefined {
    if (!this.canAdmit(request)) return this.#wait(request);
    this.#free -= 1;
    return undefined;
  }

  leave(): void {
    if (this.#borrowed > 0 && !this.#isWaitedFor) {
      this.#borrowed -= 1;
      this.#spare += 1;
      return;
    }
    this.#free += 1;
    this.#serve();
  }

  get #queues(): readonly Set<Waiter>[] {
    return [this.#urgent, this.#ofHolders, this.#others];
  }

  get #isWaitedFor(): boolean {
    return this.#queues.some((queue) => queue.size > 0);
  }

  /** Whether a request would get a connection at once. No request overtakes a waiting one of the same kind. */
  canAdmit(request: Pick<GateRequest, 'urgent' | 'holdsLock'>): boolean {
    const isUrgent = this.#isUrgent(request);
    if (isUrgent ? this.#urgent.size > 0 : this.#isWaitedFor) return false;
    return this.#free > (isUrgent ? 0 : this.#keptFree);
  }

  /** A release of a lock is both, so that releases become a group while writes of other runs wait. */
  #isUrgent({ urgent, holdsLock = false }: Pick<GateRequest, 'urgent' | 'holdsLock'>): boolean {
    return urgent && !(holdsLock && this.#ofHolders.size > 0);
  }

  #wait(request: GateRequest): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    const { holdsLock = false, timeoutMs, sinceMs = nowMs } = request;
    return new Promise<void>((resolve, reject) => {
      const queue = this.#isUrgent(request) ? this.#urgent : holdsLock ? this.#ofHolders : this.#others;
      const expire = (): void => {
        queue.delete(waiter);
        if (!this.#isWaitedFor) this.#stopWatching();
        reject(
          new SqlExecutionError(
            `no connection was free within ${Math.round(timeoutMs + nowMs - sinceMs)} ms${this.#hint}`,
            'not-sent',
          ),
        );
      };
      const cancel = this.clock.schedule(timeoutMs, expire, { keepAlive: true });
      const waiter: Waiter = {
        sinceMs,
        admit: () => {
          cancel();
          resolve();
        },
      };
      if (!this.#isWaitedFor) this.#admittedAtMs = nowMs;
      const later = request.sinceMs === undefined ? [] : [...queue].filter((each) => each.sinceMs > sinceMs);
      for (const each of [waiter, ...later]) {
        queue.delete(each);
        queue.add(each);
      }
      this.#watch();
    });
  }

  /** Checks whether the queue is stalled, as long as there is one. */
  #watch(): void {
    if (this.#cancelWatch !== undefined || this.#spare === 0) return;
    const beganMs = this.clock.monotonicMs();
    const inMs = this.#admittedAtMs + STALLED_AFTER_MS - beganMs;
    const onTime = (): void => {
      this.#cancelWatch = undefined;
      const nowMs = this.clock.monotonicMs();
      // Then the answers may have arrived, but nothing has read them yet.
      if (nowMs - beganMs - inMs >= BUSY_FOR_MS) this.#admittedAtMs = nowMs;
      else if (nowMs - this.#admittedAtMs >= STALLED_AFTER_MS) this.#borrow();
      if (this.#isWaitedFor) this.#watch();
    };
    this.#cancelWatch = this.clock.schedule(inMs, onTime, { keepAlive: false });
  }

  #stopWatching(): void {
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
  }

  #borrow(): void {
    this.#spare -= 1;
    this.#borrowed += 1;
    this.#free += 1;
    this.#serve();
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#free -= 1;
      next.admit();
    }
    if (!this.#isWaitedFor) this.#stopWatching();
  }

  #next(): Waiter | undefined {
    const queue = this.#queues.find((each) => each.size > 0);
    if (queue === undefined || this.#free <= (queue === this.#urgent ? 0 : this.#keptFree)) return undefined;
    for (const waiter of queue) {
      queue.delete(waiter);
      // Urgent requests that are admitted do not show that the others progress.
      if (queue !== this.#urgent || this.#others.size + this.#ofHolders.size === 0)
        this.#admittedAtMs = this.clock.monotonicMs();
      return waiter;
    }
    return undefined;
  }
}
