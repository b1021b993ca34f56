import assert from 'node:assert/strict';
import type { Lock } from '../../core';
import type { Random } from '../random';
import { type Instances, cases } from './fixture';

/** A grant in the model. Times and durations are whole minutes since the start. */
interface Held {
  readonly lock: Lock;
  readonly lockedAt: number;
  readonly atLeast: number;
  trustedUntil: number;
  aborted: boolean;
  /** The result of the release. */
  released?: boolean;
}

const STEPS = ['lock', 'lock', 'lock', 'extend', 'extend', 'unlock', 'elapse', 'elapse'] as const;

/** Holders that lock, extend, release and let time pass at random, and a model that predicts every result. */
export class RandomUse {
  #now = 0;
  #heldUntil = 0;
  #holder: Held | undefined;
  /** The current holder and the earlier ones, newest first. */
  #recent: Held[] = [];
  #lastToken = 0;

  constructor(
    private readonly instances: Instances,
    private readonly random: Random,
    private readonly name: string,
  ) {}

  async steps(count: number): Promise<void> {
    for (let step = 0; step < count; step += 1) {
      const what = this.#recent.length === 0 ? 'lock' : this.random.pick(STEPS);
      await this[`${what}Once`]();
      this.#checkTrust();
    }
  }

  private async lockOnce(): Promise<void> {
    const atMost = this.random.integer(1, 10);
    const atLeast = this.random.integer(0, atMost);
    const provider = this.random.pick([this.instances.provider, this.instances.other]);
    const lengths = { lockAtMostFor: `${atMost}m`, lockAtLeastFor: `${atLeast}m` };
    const lock = await provider.lock({ name: this.name, ...lengths });
    assert.equal(lock !== undefined, this.#heldUntil <= this.#now, this.#at('lock'));
    if (lock === undefined) return;
    assert.ok((lock.fencingToken ?? Infinity) > this.#lastToken, this.#at('the fencing token'));
    this.#lastToken = lock.fencingToken ?? this.#lastToken;
    this.#heldUntil = this.#now + atMost;
    this.#holder = { lock, lockedAt: this.#now, atLeast, trustedUntil: this.#heldUntil, aborted: false };
    this.#recent = [this.#holder, ...this.#recent.slice(0, 3)];
  }

  private async extendOnce(): Promise<void> {
    const held = this.random.pick(this.#recent);
    const length = this.random.integer(1, 10);
    const expected = this.#isLive(held);
    assert.equal(await held.lock.extend(`${length}m`), expected, this.#at('extend'));
    if (!expected) return;
    held.trustedUntil = this.#now + length;
    this.#heldUntil = Math.max(held.trustedUntil, held.lockedAt + held.atLeast);
  }

  private async unlockOnce(): Promise<void> {
    const held = this.random.pick(this.#recent);
    const answer = await held.lock.unlock();
    // A record that is held only for lockAtLeastFor may count as ours, or as lost with the shorter lease.
    const keptOnly = held === this.#holder && !this.#isLive(held) && this.#heldUntil > this.#now;
    if (held.released !== undefined || !keptOnly)
      assert.equal(answer, held.released ?? this.#isLive(held), this.#at('unlock'));
    if (this.#isLive(held)) this.#heldUntil = Math.max(this.#now, held.lockedAt + held.atLeast);
    held.released = answer;
  }

  private async elapseOnce(): Promise<void> {
    const minutes = this.random.integer(1, 6);
    await this.instances.elapse(`${minutes}m`);
    this.#now += minutes;
  }

  #isLive(held: Held): boolean {
    return held === this.#holder && held.released === undefined && this.#now < held.trustedUntil;
  }

  #checkTrust(): void {
    for (const held of this.#recent) {
      held.aborted ||= held.released === undefined && this.#now >= held.trustedUntil;
      const mostMs = this.#isLive(held) ? (held.trustedUntil - this.#now) * 60_000 : 0;
      assert.equal(held.lock.signal.aborted, held.aborted, this.#at('signal.aborted'));
      assert.ok(held.lock.remainingMs() <= mostMs, this.#at('remainingMs'));
    }
  }

  #at(what: string): string {
    return `${what} of '${this.name}', ${this.#now} minutes after the start, differs from the model`;
  }
}

export const randomUse = cases((test) => [
  test('random use by several holders gives the results that a model predicts (P1)', async (c) => {
    for (let round = 0; round < 10; round += 1)
      await new RandomUse(c, c.random, `contract-${round}`).steps(40);
  }),
]);
