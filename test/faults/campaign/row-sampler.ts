import { setTimeout } from 'node:timers/promises';
import { machineMs } from '../../processes/machine-time';
import type { HeldLock } from './locks/lock-place';
import type { Place } from './place';

/** A lock that was held when it was read. */
export interface RowSample extends HeldLock {
  readonly atMs: number;
}

const EVERY_MS = 500;

/** Reads the locks at intervals: only this shows a held lock that no worker was granted. */
export async function sampleRows(place: Place, over: AbortSignal): Promise<RowSample[]> {
  const samples: RowSample[] = [];
  while (!over.aborted) {
    const held = await place.heldLocks().catch(() => []); // The server is down at the moment.
    const atMs = machineMs();
    samples.push(...held.map((lock) => ({ ...lock, atMs })));
    await setTimeout(EVERY_MS);
  }
  return samples;
}
