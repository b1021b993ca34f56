import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { LockStorageError, type Lock } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import type { LockRow } from '../databases/lock-table';

const LANES = 4;
/** No lease expires during a test, so a second grant beside a holder is wrong. */
const TERMS = { lockAtMostFor: '1h' } as const;

/** Several instances of an application that ask for locks without a pause, and record the results. */
export class LockLoad {
  readonly counts = { granted: 0, refused: 0, failed: 0, released: 0 };
  /** By name: the token of a grant that was not released, and of one that was released. */
  readonly #held = new Map<string, number>();
  readonly #released = new Map<string, number>();
  #isOver = false;
  readonly #lanes: Promise<unknown>;

  constructor(private readonly instances: readonly LockProvider[]) {
    this.#lanes = Promise.all(Array.from({ length: LANES }, (_, lane) => this.#run(lane)));
    this.#lanes.catch(() => (this.#isOver = true)); // Reported by the caller that waits for the load.
  }

  /** Resolves when this many more locks have been granted; rejects as soon as a grant was wrong. */
  async granted(more: number): Promise<void> {
    const enough = this.counts.granted + more;
    const progress = async (): Promise<void> => {
      while (!this.#isOver && this.counts.granted < enough) await setTimeout(1);
    };
    await Promise.race([this.#lanes, progress()]);
    if (this.counts.granted < enough) await this.#lanes;
  }

  /** Asks for locks until a statement fails. The lanes may all be releasing, which is retried for an hour. */
  async failed(): Promise<void> {
    const { failed } = this.counts;
    for (let asked = 0; !this.#isOver && this.counts.failed === failed; asked += 1)
      await this.#ask(`asked-${asked}`);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#lanes;
  }

  /** Asserts that the table agrees with the results of all instances. */
  agreesWith(rows: readonly LockRow[]): void {
    const byName = new Map(rows.map((row) => [row.name, row]));
    for (const [name, token] of this.#held) {
      const { held, token: kept } = byName.get(name) ?? {};
      assert.deepEqual([held, kept], [true, token], `${name} was granted`);
    }
    for (const [name, token] of this.#released) {
      const { held, token: kept } = byName.get(name) ?? {};
      assert.deepEqual([held, kept], [false, token], `${name} was released`);
    }
  }

  async #run(lane: number): Promise<void> {
    for (let round = 0; !this.#isOver; round += 1) await this.#race(`lane-${lane}-${round}`);
  }

  /** Asks for a new lock, and again after its release. */
  async #race(name: string): Promise<void> {
    const first = await this.#ask(name);
    if (first === undefined) return;
    if (!(await this.#releases(name, first))) return;
    const second = await this.#ask(name);
    if (second === undefined) return;
    this.#released.delete(name);
    this.#held.set(name, tokenOf(second));
    assert.ok(tokenOf(second) > tokenOf(first), name);
    assert.equal(await this.#ask(name), undefined, `${name} was granted while it was held`);
  }

  async #ask(name: string): Promise<Lock | undefined> {
    const answers = await Promise.allSettled(
      this.instances.map((instance) => instance.lock({ name, ...TERMS })),
    );
    const failures = answers.flatMap((answer): unknown[] =>
      answer.status === 'rejected' ? [answer.reason] : [],
    );
    for (const failure of failures) {
      assert.ok(failure instanceof LockStorageError, String(failure));
      if (failure.outcome === 'unknown') this.#released.delete(name); // It may have been granted.
    }
    const locks = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    const [lock, another] = locks.filter((each) => each !== undefined);
    assert.equal(another, undefined, `${name} was granted twice`);
    const isHeld = this.#held.has(name);
    if (lock !== undefined) this.counts.granted += 1;
    else assert.ok(isHeld || failures.length > 0, `${name} is free, but was granted to no instance`);
    this.counts.refused += locks.length - (lock === undefined ? 0 : 1);
    this.counts.failed += failures.length;
    // While the server is down, failures come at once.
    if (failures.length > 0) await setTimeout(20);
    return lock;
  }

  /** @returns whether the lock is known to be free */
  async #releases(name: string, lock: Lock): Promise<boolean> {
    try {
      assert.equal(await lock.unlock(), true, `${name} was held, but its release returned false`);
    } catch (error) {
      if (!(error instanceof LockStorageError)) throw error;
      this.counts.failed += 1;
      return false;
    }
    this.counts.released += 1;
    this.#released.set(name, tokenOf(lock));
    return true;
  }
}

function tokenOf({ fencingToken }: Lock): number {
  assert.ok(fencingToken);
  return fencingToken;
}
