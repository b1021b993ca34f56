import type { ClaimRequest } from './claim-run';
import { decideOutcome } from './decide-outcome';
import type { Decision, FoundRun } from '../run-store';
import { limitOf, untilAnswered, type StoreContext } from '../store-statements';

export interface UnclaimLimits {
  readonly forMs: number;
  readonly ended: Pick<AbortSignal, 'aborted'>;
}

/**
 * After a claim that nobody knows the outcome of: the run has not begun, so no row may stand as running by it. A row that
 * does is given back. Where there is none yet, a pending one is inserted, which an insert that arrives late finds there.
 *
 * @throws LockStorageError when the store did not answer in that time: then the attempt counts as lost
 */
export async function unclaimRun(
  context: StoreContext,
  request: ClaimRequest,
  { forMs, ended }: UnclaimLimits,
): Promise<void> {
  if (ended.aborted) return;
  const { job, scope, periodKey, periodStart, periodEnd, timeZone, claimedBy } = request;
  const pending = { job, scope, periodKey, periodStart, periodEnd, timeZone, state: 'pending' } as const;
  const settle = async (): Promise<void> => {
    while (!(await context.store.change(request, (found) => giveBack(found, claimedBy), limitOf(context))))
      if (await context.store.insert(pending, limitOf(context))) return;
  };
  await untilAnswered(context, context.clock.monotonicMs() + forMs, settle, ended);
}

/** @returns whether there is a row */
function giveBack(found: FoundRun | undefined, claimedBy: string): Decision<boolean> {
  if (found === undefined) return { value: false };
  const { job, scope, periodKey, generation, attempt } = found.run;
  const claim = { job, scope, periodKey, generation, attempt, claimedBy };
  const { write, events } = decideOutcome(found, claim, { kind: 'given-back' });
  return { value: true, write, events };
}
