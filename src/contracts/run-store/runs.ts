import assert from 'node:assert/strict';
import type { StatementOptions } from '../../core';
import type { Claim, Run, RunKey } from '../../ledger/run';
import type {
  Decision,
  FoundRun,
  NewRun,
  NewRunEvent,
  Peek,
  RunQuery,
  RunStore,
} from '../../ledger/run-store';
import type { RunState } from '../../ledger/run-state';

export const LIMIT: StatementOptions = { timeoutMs: 5000 };
export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

export const JOB = 'contract';

/** A custom key of the contract's job. */
export function keyOf(periodKey: string, { job = JOB, scope = '' } = {}): RunKey {
  return { job, scope, periodKey };
}

export const KEY = keyOf('2026-11-20');

const NO_PERIOD = { periodStart: undefined, periodEnd: undefined, timeZone: undefined };

export const PENDING = { ...KEY, ...NO_PERIOD, state: 'pending' } as const satisfies NewRun;

export const SKIPPED = { ...PENDING, state: 'skipped', reason: 'calendar' } as const satisfies NewRun;

/** A new run as a claim inserts it when it finds no row. */
export function running(claimedBy = 'host/1/first'): NewRun {
  const started = { claimedBy, lockId: 'place/contract', fencingToken: 7, leaseMs: 10 * MINUTE_MS };
  return { ...PENDING, state: 'running', started };
}

/** The claim of a run that `running` created. */
export const CLAIM: Claim = { ...KEY, generation: 0, attempt: 1, claimedBy: 'host/1/first' };

export const LOST: NewRunEvent = {
  generation: 0,
  attempt: 1,
  kind: 'lost',
  actor: CLAIM.claimedBy,
  fencingToken: undefined,
  detail: undefined,
};

/** The day that begins at this instant. */
export function dayFrom(start: Date): Pick<NewRun, 'periodStart' | 'periodEnd' | 'timeZone'> {
  return { periodStart: start, periodEnd: new Date(start.getTime() + DAY_MS), timeZone: 'Asia/Shanghai' };
}

export async function inserted(store: RunStore, ...runs: readonly NewRun[]): Promise<void> {
  for (const run of runs)
    assert.equal(await store.insert(run, LIMIT), true, `${textOf(run)} should have been inserted`);
}

export async function refused(store: RunStore, run: NewRun): Promise<void> {
  assert.equal(await store.insert(run, LIMIT), false, `${textOf(run)} exists already`);
}

/** The values that a decision gets of an existing row. */
export async function found(store: RunStore, key: RunKey = KEY): Promise<FoundRun> {
  const seen = await store.change(key, (row) => ({ value: row }), LIMIT);
  assert.ok(seen !== undefined, `${textOf(key)} should have a row`);
  return seen;
}

export async function runOf(store: RunStore, key: RunKey = KEY): Promise<Run> {
  return (await found(store, key)).run;
}

export async function absent(store: RunStore, key: RunKey = KEY): Promise<void> {
  assert.equal(await store.change(key, (row) => ({ value: row }), LIMIT), undefined, `${textOf(key)}`);
}

/** Changes an existing row. @returns the new values */
export async function written(
  store: RunStore,
  edit: (found: FoundRun) => Partial<Run>,
  { key = KEY, events = [] }: { key?: RunKey; events?: readonly NewRunEvent[] } = {},
): Promise<Run> {
  const decide = (row: FoundRun | undefined): Decision<Run> => {
    assert.ok(row !== undefined, `${textOf(key)} should have a row`);
    const write = { ...row.run, ...edit(row) };
    return { value: write, write, events };
  };
  return await store.change(key, decide, LIMIT);
}

/** Inserts a run with values that no insert gives it. */
export async function insertedAs(
  store: RunStore,
  run: NewRun,
  edit: Partial<Run> | ((found: FoundRun) => Partial<Run>),
): Promise<void> {
  await inserted(store, run);
  await written(store, typeof edit === 'function' ? edit : () => edit, { key: run });
}

export async function peeked(
  store: RunStore,
  request: { periodKey?: string; since?: Date } = {},
): Promise<Peek> {
  const { periodKey, since } = request;
  return await store.peek({ job: JOB, scope: '', periodKey, since }, LIMIT);
}

export async function nowOf(store: RunStore): Promise<Date> {
  return (await peeked(store)).now;
}

export async function foundBy(store: RunStore, query: Partial<RunQuery> = {}): Promise<string[]> {
  const runs = await store.find({ order: 'oldest-first', limit: 1000, ...query }, LIMIT);
  return runs.map(({ periodKey }) => periodKey);
}

export function periodKeysOf(runs: readonly RunKey[]): string[] {
  return runs.map(({ periodKey }) => periodKey).sort();
}

export function textOf({ job, scope, periodKey }: RunKey): string {
  return `'${job}/${scope}/${periodKey}'`;
}

/** Each job and scope of the contract's job, and of `more`, with an overdue run. */
export async function overdueOf(store: RunStore, ...more: readonly string[]): Promise<string[]> {
  return (await store.overdue([JOB, ...more], LIMIT)).map(({ job, scope }) => `${job}/${scope}`);
}

/** The rows of `oneOfEach` that are overdue, and the others. */
export const OVERDUE = ['failed', 'pending', 'running'];
export const NOT_OVERDUE = ['completed', 'failed permanently', 'interrupted', 'skipped'];

/**
 * One row for each state, named after it, and one that `failed permanently`.
 *
 * @param options.scoped each row in a scope of the same name
 */
export async function oneOfEach(store: RunStore, { scoped = false } = {}): Promise<void> {
  const states: Readonly<Record<RunState, Partial<Run>>> = {
    pending: {},
    running: { attempt: 1, claimedBy: CLAIM.claimedBy, nextAttemptAt: undefined },
    completed: { nextAttemptAt: undefined },
    failed: { attempt: 1, claimedBy: CLAIM.claimedBy },
    interrupted: { attempt: 1, claimedBy: CLAIM.claimedBy, nextAttemptAt: undefined },
    skipped: { nextAttemptAt: undefined },
  };
  for (const [state, edit] of Object.entries(states) as [RunState, Partial<Run>][])
    await insertedAs(store, { ...PENDING, ...called(state) }, { ...edit, state });
  const failedPermanently = { state: 'failed', nextAttemptAt: undefined } as const;
  await insertedAs(store, { ...PENDING, ...called('failed permanently') }, failedPermanently);

  function called(name: string): { periodKey: string; scope: string } {
    return { periodKey: name, scope: scoped ? name : '' };
  }
}
