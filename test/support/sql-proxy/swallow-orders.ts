import type { StatementKind } from './statement-kind';

/** A statement that waits on its way, with all that its client sends after it. */
export interface Delay {
  /** When it goes on. */
  readonly due: Promise<void>;
  /** Called when the server has answered it, and its connection has ended. */
  readonly arrived: () => void;
}

export type Afterwards = 'cut' | 'silence' | Delay;

interface Order {
  readonly kind: StatementKind;
  readonly then: Afterwards;
  readonly done: () => void;
}

/** What is to be swallowed or delayed, statements or replies, and what was. */
export class SwallowOrders {
  readonly #counts = new Map<StatementKind, number>();
  readonly #orders: Order[] = [];

  get swallowed(): ReadonlyMap<StatementKind, number> {
    return this.#counts;
  }

  /** Resolves when it is done. */
  place(kind: StatementKind, then: Afterwards): Promise<void> {
    return new Promise((done) => this.#orders.push({ kind, then, done }));
  }

  /** @returns what is to happen to the connection, `undefined` where nothing is swallowed */
  carryOut(kind: StatementKind): Afterwards | undefined {
    const index = this.#orders.findIndex((order) => order.kind === kind);
    const [order] = index < 0 ? [] : this.#orders.splice(index, 1);
    if (order === undefined) return undefined;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    order.done();
    return order.then;
  }
}
