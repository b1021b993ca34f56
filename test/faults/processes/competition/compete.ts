import assert from 'node:assert/strict';
import type { TestDatabase } from '../../../support/databases/fresh';
import { Child } from '../../../processes/child';
import { machineMs, TICK_MS, TICKS, WORKERS } from './settings';
import type { WitnessRecord } from './witness';

export type CompetitorMessage =
  | { readonly event: 'ready'; readonly timeZone: string }
  | WitnessRecord
  | { readonly event: 'done'; readonly firstTick: number };

/** The next round of a worker. */
export interface Round {
  readonly startMs: number;
  readonly firstTick: number;
}

/** From the start of a round to the end of the last worker. */
const LONGEST_MS = (TICKS + 2) * TICK_MS + 30_000;

/**
 * Lets all workers fire at the ticks of a round, and of further rounds until enough is recorded: a slow machine needs more of
 * them.
 *
 * @param phaseMs the offset in the tick's period at which they fire, so that concurrent competitions take
 * turns
 * @param isEnough asked after each round, with all that was recorded in so many ticks
 */
export async function compete(
  { options }: TestDatabase,
  phaseMs: number,
  isEnough: (records: readonly WitnessRecord[], ticks: number) => boolean,
): Promise<void> {
  const workers = WORKERS.map(
    ({ timeZone }, worker) =>
      new Child<CompetitorMessage>('competitor.js', {
        argument: { worker, options },
        environment: { TZ: timeZone },
      }),
  );
  try {
    const ready = await Promise.all(workers.map((worker) => worker.received('ready')));
    assert.deepEqual(
      ready.map(({ timeZone }) => timeZone),
      WORKERS.map(({ timeZone }) => timeZone),
    );
    const records = (): WitnessRecord[] =>
      workers.flatMap(({ messages }) =>
        messages.filter((message) => message.event !== 'ready' && message.event !== 'done'),
      );
    let firstTick = 0;
    do {
      const startMs = (Math.floor(machineMs() / TICK_MS) + 1) * TICK_MS + phaseMs;
      const round: Round = { startMs, firstTick };
      const matching = (done: { readonly firstTick: number }): boolean => done.firstTick === round.firstTick;
      for (const worker of workers) worker.send(round);
      await Promise.all(workers.map((worker) => worker.received('done', { matching, withinMs: LONGEST_MS })));
      firstTick += TICKS;
    } while (!isEnough(records(), firstTick));
  } finally {
    await Promise.all(workers.map((worker) => worker.end()));
  }
}
