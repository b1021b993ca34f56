import { systemClock, type Clock } from '../../core';
import {
  placeInTime,
  type Run,
  type RunCount,
  type RunEvent,
  type RunKey,
  type RunSummary,
} from '../../ledger/run';
import type { NewRun, NewRunEvent } from '../../ledger/run-store';
import { InMemoryJobs } from './in-memory-jobs';

/** A run and its events. Only a store may change them. */
export interface StoredRun {
  run: Run;
  readonly events: RunEvent[];
}

/**
 * The runs and their events, in this process. Several stores that share them stand for several instances of an
 * application. Changes of the host's clock have no effect.
 */
export class InMemoryRuns {
  readonly jobs = new InMemoryJobs();
  /** In the order of their creation. */
  readonly #rows = new Map<string, StoredRun>();
  readonly #clock: Clock;
  readonly #epochMs: number;

  constructor({ clock = systemClock }: { readonly clock?: Clock | undefined } = {}) {
    this.#clock = clock;
    this.#epochMs = clock.wallMs() - clock.monotonicMs();
  }

  now(): Date {
    return new Date(this.#epochMs + this.#clock.monotonicMs());
  }

  rows(): StoredRun[] {
    return [...this.#rows.values()];
  }

  row(key: RunKey): StoredRun | undefined {
    return this.#rows.get(keyText(key));
  }

  add(row: StoredRun): void {
    this.#rows.set(keyText(row.run), row);
  }

  /** Removes a run with its events, as an operator's DELETE would. `false`: there is no such run. */
  delete(key: RunKey): boolean {
    return this.#rows.delete(keyText(key));
  }
}

function keyText({ job, scope, periodKey }: RunKey): string {
  return JSON.stringify([job, scope, periodKey]);
}

/** Copies the dates, too. */
export function copyOf<T extends object>(record: T): T {
  const entries = Object.entries(record).map(([field, value]: [string, unknown]) => [
    field,
    value instanceof Date ? new Date(value) : value,
  ]);
  return Object.fromEntries(entries) as T;
}

export function createRun({ event: _event, started, reason, ...run }: NewRun, now: Date): Run {
  return copyOf({
    ...run,
    reason,
    generation: 0,
    attempt: started === undefined ? 0 : 1,
    nextAttemptAt: run.state === 'pending' ? now : undefined,
    claimedBy: started?.claimedBy,
    lockId: started?.lockId,
    fencingToken: started?.fencingToken,
    leaseUntil: started && new Date(now.getTime() + started.leaseMs),
    firstStartedAt: started && now,
    startedAt: started && now,
    finishedAt: undefined,
    result: undefined,
    error: undefined,
    createdAt: now,
    updatedAt: now,
  });
}

export function eventAt(now: Date, event: NewRunEvent): RunEvent {
  return { ...event, at: event.at ?? new Date(now) };
}

export function summarize({ result: _result, error: _error, ...summary }: Run): RunSummary {
  return copyOf(summary);
}

const QUARTER_MS = 15 * 60 * 1000;
const MOST_COUNTS = 50_000;

/** @param runs with a period */
export function countRuns(runs: readonly Run[]): RunCount[] {
  const groups = new Map<
    string,
    Omit<RunCount, 'count' | 'meanMs'> & { count: number; durations: number[] }
  >();
  for (const run of runs) {
    const { job, state, startedAt, finishedAt } = run;
    const start = new Date(Math.floor(placeInTime(run) / QUARTER_MS) * QUARTER_MS);
    const key = JSON.stringify([job, state, start]);
    const group = groups.get(key) ?? { job, state, start, count: 0, durations: [] };
    group.count += 1;
    if (startedAt && finishedAt) group.durations.push(finishedAt.getTime() - startedAt.getTime());
    groups.set(key, group);
  }
  return [...groups.values()]
    .map(({ durations: all, ...group }) => ({
      ...group,
      meanMs: all.length === 0 ? undefined : all.reduce((sum, ms) => sum + ms, 0) / all.length,
    }))
    .sort((a, b) => b.start.getTime() - a.start.getTime())
    .slice(0, MOST_COUNTS);
}

export function overdueSince({ state, nextAttemptAt, startedAt, createdAt }: Run): Date {
  return (state === 'running' ? startedAt : nextAttemptAt) ?? createdAt;
}

/** cronlatch will not start it again automatically. */
export function isFinal({ state, nextAttemptAt }: Run): boolean {
  if (state === 'failed') return nextAttemptAt === undefined;
  return state === 'completed' || state === 'skipped';
}

/**
 * For each job and scope: the run of the newest period, and the newest run without a period.
 *
 * @param runs in the order of their creation
 */
export function newestOfEach(runs: readonly Run[]): ReadonlySet<Run> {
  const newest = new Map<string, Run>();
  for (const run of runs) {
    const subject = JSON.stringify([run.job, run.scope, run.periodStart === undefined]);
    const newestSoFar = newest.get(subject);
    if (newestSoFar === undefined || placeInTime(run) >= placeInTime(newestSoFar)) newest.set(subject, run);
  }
  return new Set(newest.values());
}

/** Of each job and scope whose newest run is that of a tick, those of older ticks than so many. */
export function olderTicks(runs: readonly Run[], kept: number): ReadonlySet<Run> {
  const dated = runs.filter(({ periodStart }) => periodStart).sort((a, b) => placeInTime(b) - placeInTime(a));
  const ofEach = new Map(dated.map(({ job, scope }) => [JSON.stringify([job, scope]), [] as Run[]]));
  for (const run of dated) ofEach.get(JSON.stringify([run.job, run.scope]))?.push(run);
  const ofTicks = [...ofEach.values()].filter(([newest]) => newest?.periodEnd === undefined);
  return new Set(
    ofTicks.flatMap((own) => own.slice(kept)).filter(({ periodEnd }) => periodEnd === undefined),
  );
}
