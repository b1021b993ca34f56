import { setTimeout } from 'node:timers/promises';
import { Child } from '../../../processes/child';
import {
  LOCK_AT_MOST_FOR_MS,
  LONGEST_PAUSE_MS,
  WORKERS,
  type ChaosMessage,
  type ChaosOrders,
} from './settings';

type Worker = Child<ChaosMessage>;

/** The faults of the workers, and the errors that they caused. */
export interface Havoc {
  kills: number;
  stops: number;
  /** By the names of the errors. */
  readonly failures: Record<string, number>;
}

/** How many runs a worker starts at most before a fault: on average more than it executes at once. */
const MOST_BEGUN = 14;
/** The share that is killed, and restarts, which takes a second; the others are stopped for a while. */
const KILLED = 0.4;
/** The first faults kill, because a few short stops may repeat no run. */
const SURE_KILLS = 2;

/**
 * Lets workers execute their runs, and kills and stops them at random until all runs are completed. Then all
 * workers continue until they end, including the stopped ones.
 *
 * @throws Error if that takes longer than `limitMs`
 */
export async function unleash(
  orders: ChaosOrders,
  isCompleted: () => Promise<boolean>,
  limitMs: number,
): Promise<Havoc> {
  const havoc: Havoc = { kills: 0, stops: 0, failures: {} };
  const workers = new Set<Worker>();
  let hasEnded = false;
  const tormented = async (): Promise<void> => {
    while (!hasEnded) {
      const worker: Worker = new Child<ChaosMessage>('chaos-worker.js', { argument: orders });
      workers.add(worker);
      await worker.received('ready');
      if ((await torment(worker, havoc, () => hasEnded)) === 'spared') return await atPeace(worker, havoc);
      workers.delete(worker);
    }
  };
  try {
    const completion = untilCompleted(isCompleted, limitMs).finally(() => (hasEnded = true));
    await Promise.all([completion, ...Array.from({ length: WORKERS }, tormented)]);
    return havoc;
  } finally {
    hasEnded = true;
    await Promise.all([...workers].map((worker) => worker.end()));
  }
}

/**
 * Until it has died, has ended normally, or all runs are completed. Progress triggers the faults, so that a
 * slow machine makes progress too.
 */
async function torment(worker: Worker, havoc: Havoc, hasEnded: () => boolean): Promise<'killed' | 'spared'> {
  for (let begun = 0; ;) {
    begun += Math.ceil(Math.random() * MOST_BEGUN);
    const isBusy = await hasBegun(worker, begun);
    await setTimeout(Math.random() * LONGEST_PAUSE_MS);
    if (!isBusy || hasEnded()) return 'spared';
    if (havoc.kills < SURE_KILLS || Math.random() < KILLED) {
      havoc.kills += 1;
      await worker.end();
      return 'killed';
    }
    havoc.stops += 1;
    worker.kill('SIGSTOP');
    // Shorter than the lease, or long enough that others take its runs over.
    await setTimeout(Math.random() * 2.5 * LOCK_AT_MOST_FOR_MS);
    worker.kill('SIGCONT');
  }
}

/** @returns `false` if it has ended before */
async function hasBegun(worker: Worker, runs: number): Promise<boolean> {
  const begun = worker.received('begun', { matching: ({ number }) => number >= runs, withinMs: 600_000 });
  return await begun.then(
    () => true,
    () => false,
  );
}

async function atPeace(worker: Worker, { failures }: Havoc): Promise<void> {
  const done = await worker.received('done');
  for (const [name, count] of Object.entries(done.failures)) failures[name] = (failures[name] ?? 0) + count;
  await worker.ended;
}

async function untilCompleted(isCompleted: () => Promise<boolean>, limitMs: number): Promise<void> {
  const endsAtMs = performance.now() + limitMs;
  while (!(await isCompleted())) {
    if (performance.now() >= endsAtMs)
      throw new Error(`The runs were not all completed within ${limitMs} ms.`);
    await setTimeout(100);
  }
}
