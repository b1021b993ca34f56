const LOOK_EVERY_MS = 60_000;
const MOST_NAMES = 10_000;

/** The locks whose record this process has seen, and when it looks again at one that is held. The oldest are forgotten. */
export class KnownNames {
  readonly #lookAtMs = new Map<string, number>();
  readonly #warned = new Set<string>();

  has(name: string): boolean {
    return this.#lookAtMs.has(name);
  }

  add(name: string): void {
    this.#remember(name, this.#lookAtMs.get(name) ?? -Infinity);
  }

  forget(name: string): void {
    this.#lookAtMs.delete(name);
  }

  /** Whether a look is due; if so, it counts as taken. */
  takeLook(name: string, nowMs: number): boolean {
    const isDue = nowMs >= (this.#lookAtMs.get(name) ?? -Infinity);
    if (isDue) this.#remember(name, nowMs + LOOK_EVERY_MS);
    return isDue;
  }

  /** The lease that was seen ends then. Whoever is refused later looks again: the record may be gone. */
  expectEnd(name: string, endsAtMs: number): void {
    this.#remember(name, Math.min(endsAtMs, this.#lookAtMs.get(name) ?? endsAtMs));
  }

  /** Whether nothing was warned of this name before; if so, it counts as done. */
  isFirstWarning(name: string): boolean {
    if (this.#warned.has(name) || this.#warned.size >= MOST_NAMES) return false;
    this.#warned.add(name);
    return true;
  }

  #remember(name: string, lookAtMs: number): void {
    this.#lookAtMs.delete(name);
    this.#lookAtMs.set(name, lookAtMs);
    if (this.#lookAtMs.size <= MOST_NAMES) return;
    for (const oldest of this.#lookAtMs.keys()) {
      this.#lookAtMs.delete(oldest);
      return;
    }
  }
}
