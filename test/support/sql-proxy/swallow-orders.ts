import type { StatementKind } from './statement-kind';

/** A statement that waits in the proxy, with everything that its client sends after it. */
export interface Delay {
  /** When it is forwarded. */
  readonly due: Promise<void>;
  /** Called when the server has replied, and its connection has ended. */
  readonly arrived: () => void;
}

export type Afterwards = 'cut' | 'silence' | Delay;

interface Order {
  readonly kind: StatementKind;
  readonly then: Afterwards;
  readonly done: () => void;
}

/** The statements and replies to swallow or delay, and those that were. */
export class SwallowOrders {
  readonly #counts = new Map<StatementKind, number>();
  readonly #orders: Order[] = [];

  get swallowed(): ReadonlyMap<StatementKind, number> {
    return this.#counts;
  }

  /** Resolves when it has happened. */
  place(kind: StatementKind, then: Afterwards): Promise<void> {
    return new Promise((done) => this.#orders.push({ kind, then, done }));
  }

  /** @returns what happens to the connection, `undefined` if nothing is swallowed */
  carryOut(kind: StatementKind): Afterwards | undefined {
    const index = this.#orders.findIndex((order) => order.kind === kind);
    const [order] = index < 0 ? [] : this.#orders.splice(index, 1);
    if (order === undefined) return undefined;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    order.done();
    return order.then;
  }
}
