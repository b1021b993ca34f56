import { SlotRuns } from '../ledger/slots/slot-runs';
import type { OncePerJobRunner } from './once-per-job-runner';

export type { Slot } from '../ledger/slots/slot';
export type { SlotRuns } from '../ledger/slots/slot-runs';

/** For integrations with schedulers that elect one instance for each scheduled time. */
export function slotRunsOf({ context, lockExecutor, registry }: OncePerJobRunner): SlotRuns {
  return new SlotRuns(context, lockExecutor.runs, (name) => registry.get(name) !== undefined);
}
