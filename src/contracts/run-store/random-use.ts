import assert from 'node:assert/strict';
import type { RunKey } from '../../ledger/run';
import type { RunState } from '../../ledger/run-state';
import type { RunStore } from '../../ledger/run-store';
import type { Random } from '../random';
import { type RunStoreBasics, cases } from './fixture';
import {
  CLAIM,
  JOB,
  LIMIT,
  LOST,
  MINUTE_MS,
  PENDING,
  inserted,
  keyOf,
  overdueOf,
  peeked,
  periodKeysOf,
  refused,
  runOf,
  running,
  written,
} from './runs';

type Instances = Pick<RunStoreBasics, 'store' | 'other' | 'elapse'>;

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
    if (this.#known.has(key)) return await refused(this.#either(), run);
    await inserted(this.#either(), run);
    const isPending = run.state === 'pending';
    const known = { attempt: isPending ? 0 : 1, dueAt: isPending ? this.#now : undefined, events: 0 };
    this.#known.set(key, { ...known, state: run.state });
  }

  private async claimOnce(key: RunKey): Promise<void> {
    const known = this.#known.get(key);
    if (known?.dueAt === undefined) return;
    Object.assign(known, { state: 'running', attempt: known.attempt + 1, dueAt: undefined });
    const { claimedBy } = CLAIM;
    await written(
      this.#either(),
      ({ run }) => ({ state: 'running', attempt: run.attempt + 1, nextAttemptAt: undefined, claimedBy }),
      { key },
    );
  }

  private async failOnce(key: RunKey): Promise<void> {
    const known = this.#known.get(key);
    if (known?.state !== 'running') return;
    const minutes = this.random.integer(0, 5);
    const { attempt } = known;
    Object.assign(known, { state: 'failed', dueAt: this.#now + minutes, events: known.events + 1 });
    await written(
      this.#either(),
      ({ now }) => ({ state: 'failed', nextAttemptAt: new Date(now.getTime() + minutes * MINUTE_MS) }),
      { key, events: [{ ...LOST, attempt, kind: 'failed' }] },
    );
  }

  private async completeOnce(key: RunKey): Promise<void> {
    const known = this.#known.get(key);
    const attempt = this.random.integer(1, 3);
    const matches = known?.state === 'running' && known.attempt === attempt;
    assert.equal(await this.#either().complete({ ...CLAIM, ...key, attempt }, '"done"', LIMIT), matches);
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
      const run = await runOf(this.#either(), key);
      assert.deepEqual({ state: run.state, attempt: run.attempt }, { state, attempt });
      assert.equal((await this.#either().events(key, LIMIT)).length, events);
      if (state === 'running' || (dueAt !== undefined && dueAt <= this.#now)) overdue.push(key);
    }
    assert.deepEqual(await overdueOf(this.#either()), overdue.length === 0 ? [] : [`${JOB}/`]);
    assert.deepEqual(periodKeysOf((await peeked(this.#either())).runs), periodKeysOf(overdue));
  }

  #either(): RunStore {
    return this.random.pick([this.instances.store, this.instances.other]);
  }
}

export const randomUse = cases({
  async 'random use by two instances gives the results that a model predicts (L3)'(instances, { random }) {
    await new RandomUse(instances, random).steps(100);
  },
});
