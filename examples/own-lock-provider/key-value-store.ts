interface Stored {
  readonly value: string;
  readonly createRevision: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface Entry {
  readonly value: string;
  /** The number of the write that created the key. Every later write has a higher number. */
  readonly createRevision: number;
  readonly ageMs: number;
  readonly ttlMs: number;
}

/**
 * Stands for the client of your server. The server compares and sets in one step, expires keys by its own
 * clock, and numbers its writes.
 */
export class KeyValueStore {
  readonly #entries = new Map<string, Stored>();
  #revision = 0;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** @returns its `createRevision`, or `undefined` if the key exists already */
  setIfAbsent(key: string, value: string, ttlMs: number): Promise<number | undefined> {
    if (this.#unexpired(key) !== undefined) return Promise.resolve(undefined);
    const createRevision = (this.#revision += 1);
    const createdAtMs = this.nowMs();
    this.#entries.set(key, { value, createRevision, createdAtMs, expiresAtMs: createdAtMs + ttlMs });
    return Promise.resolve(createRevision);
  }

  compareAndSet(key: string, expected: string, value: string, ttlMs: number): Promise<boolean> {
    const stored = this.#unexpired(key);
    if (stored?.value !== expected) return Promise.resolve(false);
    this.#entries.set(key, { ...stored, value, expiresAtMs: this.nowMs() + ttlMs });
    return Promise.resolve(true);
  }

  compareAndDelete(key: string, expected: string): Promise<boolean> {
    const matches = this.#unexpired(key)?.value === expected;
    return Promise.resolve(matches && this.#entries.delete(key));
  }

  delete(key: string): Promise<boolean> {
    return Promise.resolve(this.#entries.delete(key));
  }

  get(key: string): Promise<Entry | undefined> {
    const stored = this.#unexpired(key);
    if (stored === undefined) return Promise.resolve(undefined);
    const { value, createRevision, createdAtMs, expiresAtMs } = stored;
    const nowMs = this.nowMs();
    return Promise.resolve({ value, createRevision, ageMs: nowMs - createdAtMs, ttlMs: expiresAtMs - nowMs });
  }

  #unexpired(key: string): Stored | undefined {
    const stored = this.#entries.get(key);
    return stored !== undefined && stored.expiresAtMs > this.nowMs() ? stored : undefined;
  }
}
