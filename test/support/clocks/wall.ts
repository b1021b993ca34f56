/**
 * What a zone's wall clock shows, read field by field: the reference for the business dates, computed in
 * another way.
 */
export class WallClock {
  readonly #formatter: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    this.#formatter = new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
  }

  /** The clock's face, in milliseconds as if it were UTC. */
  shownMs(atMs: number): number {
    const second = Math.floor(atMs / 1000) * 1000;
    return Date.parse(`${this.#formatter.format(second).replace(' ', 'T')}Z`) + (atMs - second);
  }

  /** The instants from `fromMs` to `toMs` at which the clock jumps, found by checking each hour. */
  jumps(fromMs: number, toMs: number, everyMs = 3_600_000): number[] {
    const jumps: number[] = [];
    for (let atMs = fromMs; atMs < toMs; atMs += everyMs) {
      if (this.#runs(atMs, atMs + everyMs)) continue;
      let [low, high] = [atMs, atMs + everyMs];
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (this.#runs(low, middle)) low = middle;
        else high = middle;
      }
      jumps.push(high);
    }
    return jumps;
  }

  #runs(fromMs: number, toMs: number): boolean {
    return this.shownMs(toMs) - this.shownMs(fromMs) === toMs - fromMs;
  }
}
