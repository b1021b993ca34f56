import { SlotRuns } from '../ledger/slots/slot-runs';
import type { OncePerJobs } from './once-per-jobs';

export type { Slot } from '../ledger/slots/slot';
export type { SlotRuns } from '../ledger/slots/slot-runs';

/** For integrations with schedulers that elect one instance for each scheduled time. */
export function slotRunsOf({ context, lockExecutor, registered }: OncePerJobs): SlotRuns {
  return new SlotRuns(context, lockExecutor.runs, (name) => registered.get(name) !== undefined);
}
