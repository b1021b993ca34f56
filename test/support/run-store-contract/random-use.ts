import assert from 'node:assert/strict';
import type { RunKey } from '#cronlatch/ledger/run';
import type { RunState } from '#cronlatch/ledger/run-state';
import type { Random } from '#cronlatch/contracts/random';
import { type Instances, cases } from './fixture';
import { CLAIM, JOB, LOST, MINUTE_MS, PENDING, dueIn, keyOf, running } from './runs';
import type { TestedStore } from './tested-store';

/** A run in the model. Times are whole minutes since the start. */
interface Known {
  state: RunState;
  attempt: number;
  dueAt: number | undefined;
  events: number;
}

const STEPS = ['insert', 'insert', 'claim', 'claim', 'fail', 'complete', 'complete', 'elapse'] as const;
const KEYS = ['one', 'two', 'three', 'four'].map((periodKey) => keyOf(periodKey));

/** Runs that are created, started, failed and completed at random, and a model that predicts every result. */
class RandomUse {
  #now = 0;
  readonly #known = new Map<RunKey, Known>();

  constructor(
    private readonly instances: Instances,
    private readonly random: Random,
  ) {}

  async steps(count: number): Promise<void> {
    for (let step = 0; step < count; step += 1) {
      await this[`${this.random.pick(STEPS)}Once`](this.random.pick(KEYS));
      await this.#check();
    }
  }

  private async insertOnce(key: RunKey): Promise<void> {
    const run = { ...this.random.pick([PENDING, running()]), ...key };
    if (this.#known.has(key)) return await this.#either().refused(run);
    await this.#either().inserted(run);
    const { state } = run;
    const started = state === 'pending' ? { attempt: 0, dueAt: this.#now } : { attempt: 1, dueAt: undefined };
    this.#known.set(key, { ...started, state, events: 0 });
  }

  private async claimOnce(key: RunKey): Promise<void> {
    const known = this.#known.get(key);
    if (known?.dueAt === undefined) return;
    const { claimedBy } = CLAIM;
    const claimed = { state: 'running', attempt: known.attempt + 1 } as const;
    Object.assign(known, claimed, { dueAt: undefined });
    await this.#either().written({ ...claimed, nextAttemptAt: undefined, claimedBy }, { key });
  }

  private async failOnce(key: RunKey): Promise<void> {
    const known = this.#known.get(key);
    if (known?.state !== 'running') return;
    const minutes = this.random.integer(0, 5);
    const events = [{ ...LOST, attempt: known.attempt, kind: 'failed' } as const];
    Object.assign(known, { state: 'failed', dueAt: this.#now + minutes, events: known.events + 1 });
    await this.#either().written(dueIn(minutes * MINUTE_MS, { state: 'failed' }), { key, events });
  }

  private async completeOnce(key: RunKey): Promise<void> {
    const known = this.#known.get(key);
    const attempt = this.random.integer(1, 3);
    const matches = known?.state === 'running' && known.attempt === attempt;
    assert.equal(await this.#either().complete({ ...CLAIM, ...key, attempt }, '"done"'), matches);
    if (matches) Object.assign(known, { state: 'completed', dueAt: undefined });
  }

  private async elapseOnce(): Promise<void> {
    const minutes = this.random.integer(1, 4);
    await this.instances.elapse(`${minutes}m`);
    this.#now += minutes;
  }

  async #check(): Promise<void> {
    const overdue = [];
    for (const [key, { state, attempt, dueAt, events }] of this.#known) {
      await this.#either().has({ state, attempt }, key);
      assert.equal((await this.#either().events(key)).length, events);
      if (state === 'running' || (dueAt !== undefined && dueAt <= this.#now)) overdue.push(key.periodKey);
    }
    assert.deepEqual(await this.#either().overdue(), overdue.length === 0 ? [] : [`${JOB}/`]);
    assert.deepEqual(await this.#either().peekedKeys(), overdue.sort());
  }

  #either(): TestedStore {
    return this.random.pick([this.instances.store, this.instances.other]);
  }
}

export const randomUse = cases((test) => [
  test('random use by two instances gives the results that a model predicts (L3)', async (c) => {
    await new RandomUse(c, c.random).steps(100);
  }),
]);
