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
  #free: number;

  constructor(
    private readonly size: number,
    private readonly clock: Clock,
  ) {
    this.#free = size;
  }

  /**
   * @returns a function to call, once, when the connection is free again
   * @throws SqlExecutionError when no connection was free within the limit: nothing was sent
   */
  async enter({ urgent, timeoutMs }: { urgent: boolean; timeoutMs: number }): Promise<() => void> {
    await new Promise<void>((resolve, reject) => {
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
      this.#serve();
    });
    return () => {
      this.#free += 1;
      this.#serve();
    };
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#free -= 1;
      next.admit();
    }
  }

  #next(): Waiter | undefined {
    const keptFree = this.size >= 2 ? 1 : 0;
    const queue = this.#urgent.size > 0 ? this.#urgent : this.#others;
    if (this.#free <= (queue === this.#urgent ? 0 : keptFree)) return undefined;
    for (const waiter of queue) {
      queue.delete(waiter);
      return waiter;
    }
    return undefined;
  }
}
