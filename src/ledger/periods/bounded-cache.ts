/** Keeps computed values by their keys. When it is full, it forgets all of them. */
export class BoundedCache<V> {
  readonly #values = new Map<string, V>();

  constructor(private readonly most: number) {}

  get(key: string, compute: () => V): V {
    const known = this.#values.get(key);
    if (known !== undefined || this.#values.has(key)) return known as V;
    const value = compute();
    if (this.#values.size >= this.most) this.#values.clear();
    this.#values.set(key, value);
    return value;
  }
}
