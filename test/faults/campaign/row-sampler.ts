import { setTimeout } from 'node:timers/promises';
import { machineMs } from '../processes/competition/settings';
import type { Place } from './place';

/** A row of the lock table that was held when it was read. */
export interface RowSample {
  readonly atMs: number;
  readonly name: string;
  readonly owner: string;
  readonly token: number;
}

const EVERY_MS = 500;
/** By the server's clock. The margin is harmless, because a held row is held for seconds. */
const HELD = {
  mysql: 'lock_until > UTC_TIMESTAMP(6)',
  mariadb: 'lock_until > UTC_TIMESTAMP(6)',
  postgres: 'lock_until > clock_timestamp()',
  sqlite: `lock_until > CAST(unixepoch('subsec') * 1000000 AS INTEGER)`,
} as const;

/** Reads the lock table at intervals: only this shows a held lock that no worker was granted. */
export async function sampleRows(place: Place, over: AbortSignal): Promise<RowSample[]> {
  const samples: RowSample[] = [];
  const text = `SELECT name, locked_by, fencing_token FROM shedlock WHERE ${HELD[place.type]} AND name LIKE 'job-%'`;
  while (!over.aborted) {
    const rows = await place.ask(text).catch(() => []); // The server is down at the moment.
    const atMs = machineMs();
    for (const row of rows) {
      const owner = String(row['locked_by']);
      if (owner.endsWith('/released')) continue; // Held for lockAtLeastFor.
      samples.push({ atMs, name: String(row['name']), owner, token: Number(row['fencing_token']) });
    }
    await setTimeout(EVERY_MS);
  }
  return samples;
}
