/** A statement that waits in the proxy, with everything that its client sends after it. */
export interface Delay {
  /** When it is forwarded. */
  readonly due: Promise<void>;
  /** Called when the server has replied, and its connection has ended. */
  readonly arrived: () => void;
}

export type Afterwards = 'cut' | 'silence' | Delay;

interface Order<Kind> {
  readonly kind: Kind;
  readonly then: Afterwards;
  readonly done: () => void;
}

/** The statements and replies to swallow or delay, and those that were. */
export class SwallowOrders<Kind extends string> {
  readonly #counts = new Map<Kind, number>();
  readonly #orders: Order<Kind>[] = [];

  get swallowed(): ReadonlyMap<Kind, number> {
    return this.#counts;
  }

  /** Resolves when it has happened. */
  place(kind: Kind, then: Afterwards): Promise<void> {
    return new Promise((done) => this.#orders.push({ kind, then, done }));
  }

  /** @returns what happens to the connection, `undefined` if nothing is swallowed */
  carryOut(kind: Kind): Afterwards | undefined {
    const index = this.#orders.findIndex((order) => order.kind === kind);
    const [order] = index < 0 ? [] : this.#orders.splice(index, 1);
    if (order === undefined) return undefined;
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    order.done();
    return order.then;
  }
}
