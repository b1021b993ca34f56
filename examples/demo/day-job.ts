import { setTimeout } from 'node:timers/promises';
import { currentRun } from 'cronlatch';
import { inRunTransaction } from 'cronlatch/better-sqlite3';
import { EFFECTS_TABLE, type Day } from './day';
import type { Reporter } from './reporter';
import { SECOND_ATTEMPT_MS } from './settings';
import { PLANNED_FAILURE } from './unplanned';

/**
 * The job of the day. The first attempt fails, the worker of the second is killed, and the third completes.
 */
export async function closeDay({ at }: Day, reporter: Reporter): Promise<void> {
  const { attempt, businessDate, signal } = currentRun();
  reporter.report('day-enter', at);
  if (attempt === 2) await setTimeout(SECOND_ATTEMPT_MS, undefined, { signal });
  await inRunTransaction((database) => {
    database.prepare(`INSERT INTO ${EFFECTS_TABLE} VALUES (?, ?)`).run(businessDate, attempt);
    // This rolls back the effect that was just written.
    if (attempt === 1) throw new Error(PLANNED_FAILURE);
  });
}
