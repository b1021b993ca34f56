import { setTimeout } from 'node:timers/promises';
import { currentRun } from 'cronlatch';
import { inRunTransaction } from 'cronlatch/typeorm';
import type { Day } from './day';
import type { Reporter } from './reporter';
import { SECOND_ATTEMPT_MS } from './settings';
import { PLANNED_FAILURE } from './unplanned';

/** The job of the day. Its first attempt fails, in its second one the worker is killed, its third one does it. */
export async function closeDay({ at, effectsTable }: Day, reporter: Reporter): Promise<void> {
  const { attempt, businessDate, signal } = currentRun();
  reporter.report('day-enter', at);
  if (attempt === 2) await setTimeout(SECOND_ATTEMPT_MS, undefined, { signal });
  await inRunTransaction(async (manager) => {
    const effect = { business_date: businessDate, attempt };
    await manager.createQueryBuilder().insert().into(effectsTable).values(effect).execute();
    // The effect that was just made is rolled back.
    if (attempt === 1) throw new Error(PLANNED_FAILURE);
  });
}
