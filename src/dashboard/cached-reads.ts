const FRESH_FOR_MS = 5000;
const MOST = 200;

/** Shares each read of the database among all pages that are open, for 5 seconds. */
export class CachedReads {
  readonly #reads = new Map<string, { readonly atMs: number; readonly result: Promise<unknown> }>();

  /** @param key the same for reads with the same result */
  async read<T>(key: string, read: () => Promise<T>): Promise<T> {
    const found = this.#reads.get(key);
    if (found !== undefined && performance.now() - found.atMs < FRESH_FOR_MS)
      return (await found.result) as T;
    const result = read();
    this.#reads.delete(key);
    this.#reads.set(key, { atMs: performance.now(), result });
    for (const oldest of this.#reads.keys()) if (this.#reads.size > MOST) this.#reads.delete(oldest);
    try {
      return await result;
    } catch (error) {
      if (this.#reads.get(key)?.result === result) this.#reads.delete(key);
      throw error;
    }
  }

  /** After an act, every page shows what it has changed. */
  clear(): void {
    this.#reads.clear();
  }
}
