import assert from 'node:assert/strict';
import { LockStorageError } from 'cronlatch';
import type { StatementOptions } from 'cronlatch/provider';
import type { Claim, Run, RunKey } from '#cronlatch/ledger/run';
import type {
  Decision,
  FoundRun,
  NewRun,
  NewRunEvent,
  PeekRequest,
  PurgeRequest,
  RunQuery,
  RunStore,
} from '#cronlatch/ledger/run-store';
import { afterRealTime } from '#cronlatch/contracts/real-time';
import { CLAIM, JOB, KEY, textOf } from './runs';

export const LIMIT: StatementOptions = { timeoutMs: 5000 };

/** Stores and drivers round instants differently. */
const ROUNDED_MS = 1;

/** Much longer than a case takes, and shorter than the time that a case lets pass. */
const A_WHILE_MS = 30_000;

type Edit = Partial<Run> | ((found: FoundRun) => Partial<Run>);

/** The store as one instance uses it. A method in the past tense fails unless the store did so. */
export class TestedStore {
  constructor(readonly raw: RunStore) {}

  readonly insert = (run: NewRun) => this.raw.insert(run, LIMIT);
  readonly complete = (claim: Claim, result?: string) => this.raw.complete(claim, result, LIMIT);
  readonly events = (key: RunKey = KEY) => this.raw.events(key, LIMIT);
  readonly change = <T>(decide: (found: FoundRun | undefined) => Decision<T>, key: RunKey = KEY) =>
    this.raw.change(key, decide, LIMIT);
  readonly find = (query: Partial<RunQuery> = {}) =>
    this.raw.find({ order: 'oldest-first', limit: 1000, ...query }, LIMIT);
  readonly peek = ({ job = JOB, scope = '', periodKey, since }: Partial<PeekRequest> = {}) =>
    this.raw.peek({ job, scope, periodKey, since }, LIMIT);
  readonly purge = (request: PurgeRequest) => this.raw.purge(request, LIMIT);

  async inserted(...runs: readonly NewRun[]): Promise<void> {
    for (const run of runs)
      assert.equal(await this.insert(run), true, `${textOf(run)} should have been inserted`);
  }

  async refused(run: NewRun): Promise<void> {
    assert.equal(await this.insert(run), false, `${textOf(run)} exists already`);
  }

  async completed(result?: string): Promise<void> {
    assert.equal(await this.complete(CLAIM, result), true, `${textOf(CLAIM)} should have been completed`);
  }

  /** @returns what a decision gets of an existing row */
  async found(key: RunKey = KEY): Promise<FoundRun> {
    const seen = await this.change((row) => ({ value: row }), key);
    assert.ok(seen !== undefined, `${textOf(key)} should have a row`);
    return seen;
  }

  async absent(key: RunKey = KEY): Promise<void> {
    assert.equal(
      await this.change((row) => ({ value: row }), key),
      undefined,
      `${textOf(key)} should have no row`,
    );
  }

  /** Changes an existing row. @returns the new values */
  async written(
    edit: Edit,
    { key = KEY, events = [] }: { key?: RunKey; events?: readonly NewRunEvent[] } = {},
  ): Promise<Run> {
    return await this.change((row) => {
      assert.ok(row !== undefined, `${textOf(key)} should have a row`);
      const write = { ...row.run, ...(typeof edit === 'function' ? edit(row) : edit) };
      return { value: write, write, events };
    }, key);
  }

  /** Inserts a run with values that no insert gives it. */
  async insertedAs(run: NewRun, edit: Edit): Promise<void> {
    await this.inserted(run);
    await this.written(edit, { key: run });
  }

  async run(key: RunKey = KEY): Promise<Run> {
    return (await this.found(key)).run;
  }

  /** The row has these values, among others. */
  async has(values: Partial<Run>, key: RunKey = KEY): Promise<void> {
    const run = await this.run(key);
    const fields = Object.keys(values) as (keyof Run)[];
    assert.deepEqual(Object.fromEntries(fields.map((field) => [field, run[field]])), values);
  }

  async now(): Promise<Date> {
    return (await this.peek()).now;
  }

  async kindsOfEvents(key: RunKey = KEY): Promise<string[]> {
    return (await this.events(key)).map(({ kind }) => kind);
  }

  async periodKeys(query: Partial<RunQuery> = {}): Promise<string[]> {
    return (await this.find(query)).map(({ periodKey }) => periodKey);
  }

  async peekedKeys(request: Partial<PeekRequest> = {}): Promise<string[]> {
    return (await this.peek(request)).runs.map(({ periodKey }) => periodKey).sort();
  }

  /** Each job and scope of these jobs with an overdue run. */
  async overdue(jobs: readonly string[] = [JOB]): Promise<string[]> {
    return (await this.raw.overdue(jobs, LIMIT)).map(({ job, scope }) => `${job}/${scope}`);
  }

  /** Runs `act` between two reads of the store's clock. The result can check that an instant lies between. */
  async readClockAround<T>(act: () => Promise<T>) {
    const from = (await this.now()).getTime() - ROUNDED_MS;
    const value = await act();
    const to = (await this.now()).getTime() + ROUNDED_MS;
    const assertIsNow = (instants: Readonly<Record<string, Date | undefined>>): void => {
      for (const [what, instant] of Object.entries(instants)) {
        assert.ok(instant instanceof Date, `${what} should be an instant`);
        const ms = instant.getTime();
        assert.ok(
          from <= ms && ms <= to,
          `${what} is ${instant.toISOString()}, which is not the store's now`,
        );
      }
    };
    return { value, assertIsNow };
  }

  /** Asserts the age of the instant, by the store's clock. */
  async assertAge(instant: Date | undefined, ageMs: number): Promise<void> {
    assert.ok(instant instanceof Date, 'should be an instant');
    const olderMs = (await this.now()).getTime() - instant.getTime() - ageMs;
    const message = `${instant.toISOString()} is ${olderMs} ms older than it should be`;
    assert.ok(-ROUNDED_MS <= olderMs && olderMs < A_WHILE_MS, message);
  }
}

const MOST_ATTEMPTS = 200;

/** Retries after contention with other transactions, as the ledger does. */
export async function retryContention<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      const contended = error instanceof LockStorageError && error.outcome === 'contention';
      if (!contended || attempt === MOST_ATTEMPTS) throw error;
      await new Promise<void>((resolve) => afterRealTime(10 * Math.random(), resolve));
    }
  }
}

/** Runs `act` this many times at once, every second time through the other instance. */
export async function runConcurrently<T>(
  { store, other }: { readonly store: TestedStore; readonly other: TestedStore },
  count: number,
  act: (at: TestedStore, i: number) => Promise<T>,
): Promise<T[]> {
  const times = Array.from({ length: count }, (_, i) => i);
  return await Promise.all(times.map((i) => retryContention(() => act(i % 2 ? other : store, i))));
}
