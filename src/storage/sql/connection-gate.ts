import type { Clock } from '../../core';
import { SqlExecutionError } from './sql-executor';

interface Waiter {
  readonly admit: () => void;
}

/**
 * Decides who gets a connection next: first what a lease depends on (extend, unlock, resolve), then everything else,
 * each first come first served. Where there are two connections or more, the others never take the last free one.
 */
export class ConnectionGate {
  readonly #urgent = new Set<Waiter>();
  readonly #others = new Set<Waiter>();
  readonly #keptFree: number;
  #free: number;

  constructor(
    size: number,
    private readonly clock: Clock,
  ) {
    this.#free = size;
    this.#keptFree = size >= 2 ? 1 : 0;
  }

  /**
   * To be followed by one `leave` when the connection is free again.
   *
   * @returns `undefined` where nobody has to wait
   * @throws SqlExecutionError when no connection was free within the limit: nothing was sent
   */
  enter(request: { urgent: boolean; timeoutMs: number }): Promise<void> | undefined {
    if (!this.#canAdmit(request)) return this.#wait(request);
    this.#free -= 1;
    return undefined;
  }

  leave(): void {
    this.#free += 1;
    this.#serve();
  }

  /** Nobody who waits is overtaken by somebody of the same kind. */
  #canAdmit({ urgent }: { urgent: boolean }): boolean {
    if (this.#urgent.size > 0 || (!urgent && this.#others.size > 0)) return false;
    return this.#free > (urgent ? 0 : this.#keptFree);
  }

  #wait({ urgent, timeoutMs }: { urgent: boolean; timeoutMs: number }): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const queue = urgent ? this.#urgent : this.#others;
      const expire = (): void => {
        queue.delete(waiter);
        reject(
          new SqlExecutionError(`no connection was free within ${Math.round(timeoutMs)} ms`, 'not-sent'),
        );
      };
      const cancel = this.clock.schedule(timeoutMs, expire, { keepAlive: true });
      const waiter: Waiter = {
        admit: () => {
          cancel();
          resolve();
        },
      };
      queue.add(waiter);
    });
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#free -= 1;
      next.admit();
    }
  }

  #next(): Waiter | undefined {
    const queue = this.#urgent.size > 0 ? this.#urgent : this.#others;
    if (this.#free <= (queue === this.#urgent ? 0 : this.#keptFree)) return undefined;
    for (const waiter of queue) {
      queue.delete(waiter);
      return waiter;
    }
    return undefined;
  }
}
