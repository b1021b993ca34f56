const LOOK_EVERY_MS = 60_000;
const MOST_NAMES = 10_000;

/** The locks whose record this process has seen, and when it last looked at one that was held. The oldest are forgotten. */
export class KnownNames {
  readonly #lookedAtMs = new Map<string, number>();

  has(name: string): boolean {
    return this.#lookedAtMs.has(name);
  }

  add(name: string): void {
    this.#remember(name, this.#lookedAtMs.get(name) ?? -Infinity);
  }

  /** Whether a look is due; if so, it counts as taken. */
  takeLook(name: string, nowMs: number): boolean {
    const due = nowMs - (this.#lookedAtMs.get(name) ?? -Infinity) >= LOOK_EVERY_MS;
    if (due) this.#remember(name, nowMs);
    return due;
  }

  #remember(name: string, lookedAtMs: number): void {
    this.#lookedAtMs.delete(name);
    this.#lookedAtMs.set(name, lookedAtMs);
    if (this.#lookedAtMs.size <= MOST_NAMES) return;
    for (const oldest of this.#lookedAtMs.keys()) {
      this.#lookedAtMs.delete(oldest);
      return;
    }
  }
}
