const READ_INTERVAL_MS = 60_000;
const MOST_NAMES = 10_000;

/** The locks whose records this process has seen, and when it next reads a held one. It forgets the oldest. */
export class SeenLocks {
  readonly #readAtMs = new Map<string, number>();
  readonly #warned = new Set<string>();

  has(name: string): boolean {
    return this.#readAtMs.has(name);
  }

  add(name: string): void {
    this.#remember(name, this.#readAtMs.get(name) ?? -Infinity);
  }

  forget(name: string): void {
    this.#readAtMs.delete(name);
  }

  /** Whether a read is due. If so, it counts as done. */
  takeRead(name: string, nowMs: number): boolean {
    const isDue = nowMs >= (this.#readAtMs.get(name) ?? -Infinity);
    if (isDue) this.#remember(name, nowMs + READ_INTERVAL_MS);
    return isDue;
  }

  /** The lease that was seen ends then. A refused acquisition after that reads the record again. */
  expectEnd(name: string, endsAtMs: number): void {
    this.#remember(name, Math.min(endsAtMs, this.#readAtMs.get(name) ?? endsAtMs));
  }

  /** Whether this is the first warning about the name. If so, it counts as emitted. */
  isFirstWarning(name: string): boolean {
    if (this.#warned.has(name) || this.#warned.size >= MOST_NAMES) return false;
    this.#warned.add(name);
    return true;
  }

  #remember(name: string, readAtMs: number): void {
    this.#readAtMs.delete(name);
    this.#readAtMs.set(name, readAtMs);
    if (this.#readAtMs.size <= MOST_NAMES) return;
    const [oldest = name] = this.#readAtMs.keys();
    this.#readAtMs.delete(oldest);
  }
}
