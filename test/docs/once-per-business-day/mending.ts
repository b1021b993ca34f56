import type { JobGuard, Run } from 'cronlatch';

const job = 'close-day';
const why = { actor: 'ops@example.com', reason: 'the bank has sent its file again' };

/** A completed day is run again, at once: by force, because that is seldom meant. */
export async function runAgain({ ledger }: JobGuard, periodKey: string): Promise<Run> {
  return await ledger.rerun({ job, periodKey }, { ...why, force: true });
}

/** You have looked, and the interrupted run had done its work. Else: as 'pending', and it is run again, or as 'failed'. */
export async function itWasDone({ ledger }: JobGuard, periodKey: string): Promise<Run> {
  return await ledger.resolve({ job, periodKey }, { ...why, as: 'completed' });
}

/** The day is to have no run. */
export async function leaveOut({ ledger }: JobGuard, periodKey: string): Promise<void> {
  await ledger.skip({ job, periodKey }, why);
}

/** Runs are made of the days that were missed; then they are run. */
export async function makeUp(guard: JobGuard): Promise<number> {
  await guard.backfill(job, { from: '2026-11-16', to: '2026-11-18' });
  return (await guard.runDue()).started;
}

/** What is over and was last written longer ago is deleted, with its history. */
export async function forget({ ledger }: JobGuard): Promise<number> {
  return await ledger.purge({ olderThan: '400d' });
}
