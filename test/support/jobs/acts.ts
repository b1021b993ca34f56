import type { JobGuard } from 'cronlatch';
import type { CalendarPeriod } from 'cronlatch/calendar';
import { operations } from 'cronlatch/operations';
import type { StoredAct } from '#cronlatch/ledger/act-store';

/** Who acts, and why. */
export const BY = { actor: 'ada', reason: 'wrong rates' };

/** Adds runs of past days. @returns their periods */
export async function addRuns(
  guard: JobGuard,
  range: { readonly from: string; readonly to: string; readonly force?: boolean },
  job = 'close-day',
): Promise<string[]> {
  const { facts } = await operations(guard).run({ job }, { ...range, ...BY });
  return 'added' in facts ? (facts.added as CalendarPeriod[]).map(({ key }) => key) : [];
}

/** @returns how many runs it has deleted */
export async function purge(guard: JobGuard, olderThan: string): Promise<number> {
  const { facts } = await operations(guard).purge({ olderThan, ...BY });
  return (facts as { deleted: number }).deleted;
}

/** The newest act on a job, such as a request to run it. */
export async function lastAct(guard: JobGuard, job: string): Promise<StoredAct | undefined> {
  const [newest] = await operations(guard).acts({ job, limit: 1 });
  return newest;
}
