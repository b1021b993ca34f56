import { setTimeout } from 'node:timers/promises';
import { currentRun } from 'cronlatch';
import { inRunTransaction } from 'cronlatch/typeorm';
import type { Day } from './day';
import type { Reporter } from './reporter';
import { SECOND_ATTEMPT_MS } from './settings';
import { PLANNED_FAILURE } from './unplanned';

/**
 * The job of the day. The first attempt fails, the worker of the second is killed, and the third completes.
 */
export async function closeDay({ at, effectsTable }: Day, reporter: Reporter): Promise<void> {
  const { attempt, businessDate, signal } = currentRun();
  reporter.report('day-enter', at);
  if (attempt === 2) await setTimeout(SECOND_ATTEMPT_MS, undefined, { signal });
  await inRunTransaction(async (manager) => {
    const effect = { business_date: businessDate, attempt };
    await manager.createQueryBuilder().insert().into(effectsTable).values(effect).execute();
    // This rolls back the effect that was just written.
    if (attempt === 1) throw new Error(PLANNED_FAILURE);
  });
}
