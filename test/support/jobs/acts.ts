import type { JobGuard } from 'cronlatch';
import type { CalendarPeriod } from 'cronlatch/calendar';
import { operations } from 'cronlatch/operations';

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
