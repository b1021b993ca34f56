import assert from 'node:assert/strict';
import type { TestDatabase } from '../../../support/databases';
import { Child } from '../../../processes/child';
import { machineMs, TICK_MS, TICKS, WORKERS } from './settings';
import type { WitnessRecord } from './witness';

export type CompetitorMessage =
  { readonly event: 'ready'; readonly timeZone: string } | WitnessRecord | { readonly event: 'done' };

/** From the start to the end of the last worker. */
const LONGEST_MS = (TICKS + 2) * TICK_MS + 30_000;

/**
 * Lets all workers fire at all ticks, and returns what they recorded.
 *
 * @param phaseMs the offset in the tick's period at which they fire, so that concurrent competitions take
 * turns
 */
export async function compete({ options }: TestDatabase, phaseMs: number): Promise<WitnessRecord[]> {
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
    const startMs = (Math.floor(machineMs() / TICK_MS) + 1) * TICK_MS + phaseMs;
    for (const worker of workers) worker.send({ startMs });
    await Promise.all(workers.map((worker) => worker.received('done', { withinMs: LONGEST_MS })));
    return workers.flatMap(({ messages }) =>
      messages.filter((message) => message.event !== 'ready' && message.event !== 'done'),
    );
  } finally {
    await Promise.all(workers.map((worker) => worker.end()));
  }
}
