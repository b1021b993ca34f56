import type { JobGuard } from 'cronlatch';
import type { Run } from 'cronlatch/provider';

const job = 'close-day';
const why = { actor: 'ops@example.com', reason: 'the bank has sent its file again' };

/** Runs a completed day again, at once. It needs `force`, because that is rarely intended. */
export async function rerunDay({ ledger }: JobGuard, periodKey: string): Promise<Run> {
  return await ledger.rerun({ job, periodKey }, { ...why, force: true });
}

/** You checked that the interrupted run did its work. Otherwise use 'pending' to run it again, or 'failed'. */
export async function markCompleted({ ledger }: JobGuard, periodKey: string): Promise<Run> {
  return await ledger.resolve({ job, periodKey }, { ...why, as: 'completed' });
}

/** The day will have no run. */
export async function skipDay({ ledger }: JobGuard, periodKey: string): Promise<void> {
  await ledger.skip({ job, periodKey }, why);
}

/** Creates runs for the missed days, and then starts them. */
export async function backfillMissedDays(guard: JobGuard): Promise<number> {
  await guard.backfill(job, { from: '2026-11-16', to: '2026-11-18' });
  return (await guard.runOverdue()).started;
}

/** Deletes finished runs that were last written longer ago, with their history. */
export async function purgeOldRuns({ ledger }: JobGuard): Promise<number> {
  return await ledger.purge({ olderThan: '400d' });
}
