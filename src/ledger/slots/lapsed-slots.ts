import { SLOT_LOCK_ID } from './claim-slot';
import { decideLapsed, isLapsed } from './decide-slot';
import type { Run } from '../run';
import { limitOf, type StoreContext } from '../store-statements';

/**
 * Marks the runs of a job's slots whose holder vanished as interrupted: they are not run again.
 *
 * @param isHere whether a claim is of this process, which knows better than its lease
 * @returns those that were running
 */
export async function interruptLapsedSlots(
  context: StoreContext,
  job: string,
  isHere: (claimedBy: string | undefined) => boolean,
): Promise<readonly Run[]> {
  const { store } = context;
  const request = { job, scope: '', periodKey: undefined, since: undefined };
  const { now, runs } = await store.peek(request, limitOf(context));
  const lapsed = runs.filter(
    (run) => run.lockId === SLOT_LOCK_ID && isLapsed(run, now) && !isHere(run.claimedBy),
  );
  const interrupted: Run[] = [];
  for (const { claimedBy, ...key } of lapsed) {
    const run = await store.change(key, (found) => decideLapsed(found, claimedBy), limitOf(context));
    if (run !== undefined) interrupted.push(run);
  }
  return interrupted;
}
