import type { JobGuard } from 'cronlatch';
import { operations } from 'cronlatch/operations';

const job = 'close-day';
const by = { actor: 'ops@example.com', reason: 'the bank has sent its file again' };

/** Runs a completed day again, at once. It needs `force`, because that is rarely intended. */
export async function rerunDay(guard: JobGuard, period: string): Promise<void> {
  await operations(guard).rerun({ job, period }, { ...by, force: true });
}

/** You checked that the interrupted run did its work. Otherwise use 'pending' to run it again, or 'failed'. */
export async function markCompleted(guard: JobGuard, period: string): Promise<string> {
  const { text } = await operations(guard).resolve({ job, period }, { ...by, as: 'completed' });
  return text; // Such as: Done. It completed at 2026-11-20 09:02:00Z.
}

/** The day will have no run. */
export async function skipDay(guard: JobGuard, period: string): Promise<void> {
  await operations(guard).skip({ job, period }, by);
}

/** Adds runs for the missed days, and then starts them. */
export async function runMissedDays(guard: JobGuard): Promise<number> {
  await operations(guard).run({ job }, { from: '2026-11-16', to: '2026-11-18', ...by });
  return (await guard.runOverdue()).started;
}

/** Deletes finished runs that were last written longer ago, with their history. */
export async function purgeOldRuns(guard: JobGuard): Promise<string> {
  return (await operations(guard).purge({ olderThan: '400d', ...by })).text;
}
