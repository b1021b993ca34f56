import { setImmediate } from 'node:timers/promises';

type Callback = (...answer: unknown[]) => void;

const LISTENERS = new Set(['on', 'once', 'removeListener']);

/** The requests of clients with callbacks that have no answer yet. */
export class RequestsInFlight {
  #count = 0;
  #onAnswer = (): void => {};

  /** The same client, with its requests counted here. */
  of<Client extends object>(client: Client): Client {
    return new Proxy(client, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          const callback = args.at(-1);
          const isRequest = typeof callback === 'function' && !LISTENERS.has(String(name));
          const sent = isRequest ? [...args.slice(0, -1), this.#counted(callback as Callback)] : args;
          const result: unknown = Reflect.apply(member, target, sent);
          const isBuilder = name === 'transaction' || name === 'check';
          return isBuilder ? this.of(result as object) : result;
        };
      },
    });
  }

  /** Resolves when all requests have answers, and no answer has led to another request. */
  async ended(): Promise<void> {
    await setImmediate();
    while (this.#count > 0) {
      await new Promise<void>((resolve) => (this.#onAnswer = resolve));
      await setImmediate();
    }
  }

  #counted(callback: Callback): Callback {
    this.#count += 1;
    return (...answer) => {
      callback(...answer);
      this.#count -= 1;
      this.#onAnswer();
    };
  }
}
