import { setImmediate } from 'node:timers/promises';

/** The calls of stores that are in flight, including those that no code awaits. */
export class StatementsInFlight {
  readonly #all = new Set<Promise<unknown>>();

  /** The same store, with its calls counted here. */
  of<Store extends object>(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          const answer: unknown = Reflect.apply(member, target, args);
          if (answer instanceof Promise) this.#watch(answer);
          return answer;
        };
      },
    });
  }

  /** Resolves when no call is in flight, and no reply has led to another call. */
  async ended(): Promise<void> {
    while (this.#all.size > 0) {
      await Promise.allSettled(this.#all);
      await setImmediate();
    }
  }

  #watch(answer: Promise<unknown>): void {
    this.#all.add(answer);
    const forget = (): void => void this.#all.delete(answer);
    answer.then(forget, forget);
  }
}
