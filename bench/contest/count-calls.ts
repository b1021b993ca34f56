import { setTimeout as pause } from 'node:timers/promises';
import type { BenchPlace, Counters, Counts } from '../databases/bench-database';
import type { Entry } from './contender';

/** What the server does for one call. */
export interface CountedCalls {
  readonly statements: number | undefined;
  readonly commits: number;
}

export interface CountRequest {
  readonly workers: number;
  /** 0: nothing is counted. */
  readonly calls: number;
  readonly database: Pick<BenchPlace, 'counters'>;
}

const LONGEST_END_MS = 15_000;
const READ_EVERY_MS = 20;
const MOST_READS = 50;

/**
 * Lets a new contender make a few calls, and another one many more. The difference of the server's counters belongs to
 * the calls alone: opening and closing connections, and reading the counters, is the same for both.
 */
export async function countPerCall(
  { open }: Entry,
  { workers, calls, database }: CountRequest,
): Promise<CountedCalls | undefined> {
  const { counters } = database;
  if (counters === undefined || calls === 0) return undefined;
  // Each worker has called once before: its connection is open, and its statements are prepared.
  const few = await during(workers, counters);
  const many = await during(workers + calls, counters);
  const statements =
    many.statements === undefined || few.statements === undefined
      ? undefined
      : (many.statements - few.statements) / calls;
  return { statements, commits: (many.commits - few.commits) / calls };

  async function during(times: number, counters: Counters): Promise<Counts> {
    const before = await settledCounts(counters);
    const contender = await open();
    try {
      const work = async (worker: number): Promise<void> => {
        for (let call = worker; call < times; call += workers) await contender.perform(worker);
      };
      await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
    } finally {
      await contender[Symbol.asyncDispose]();
    }
    return difference(await settledCounts(counters), before);
  }
}

/**
 * The counts after all connections have ended. A server ends a session after its client, and adds up what it did at its
 * end, or even a little later.
 */
export async function settledCounts(counters: Counters): Promise<Counts> {
  const endsAtMs = performance.now() + LONGEST_END_MS;
  while ((await counters.countConnections()) > 0)
    if (performance.now() > endsAtMs) throw new Error('A contender has left a connection open.');
  let counts = await counters.count();
  for (let reads = 1; reads <= MOST_READS; reads += 1) {
    await pause(READ_EVERY_MS);
    const before = counts;
    counts = await counters.count();
    if (counts.statements === before.statements && counts.commits === before.commits) break;
  }
  return counts;
}

export function difference(after: Counts, before: Counts): Counts {
  const statements =
    after.statements === undefined || before.statements === undefined
      ? undefined
      : after.statements - before.statements;
  return { statements, commits: after.commits - before.commits };
}
