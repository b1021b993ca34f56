import { setImmediate } from 'node:timers/promises';

/** What is being asked of stores at the moment, also by what nobody awaits. */
export class StatementsInFlight {
  readonly #all = new Set<Promise<unknown>>();

  /** The same store, whose calls are known here. */
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

  /** Resolves when nothing is being asked, and no answer has led to another question. */
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
