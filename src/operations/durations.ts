/** How long runs took, how late they began, and when a running job is expected to end. */
import type { RunSummary } from '../ledger';
import { calendarPeriodsOf } from '../ledger/policy/job-policy';
import type { JobCatalog } from './job-catalog';
import type { JobOverview } from './overview';

/** How long a run took, or its last attempt. `undefined` until it has ended. */
export function durationOf({ startedAt, finishedAt }: Partial<RunSummary>): number | undefined {
  return startedAt && finishedAt && Math.max(0, finishedAt.getTime() - startedAt.getTime());
}

/** The middle one, or the one that so much of all are below. */
export function quantile(values: readonly number[], share = 0.5): number {
  const index = Math.min(values.length - 1, Math.floor(values.length * share));
  return values.toSorted((a, b) => a - b)[index] ?? 0;
}

/** How long after its scheduled time a run of a job began. `undefined` if that is not known, or its period had ended. */
export function delaysOf(catalog: JobCatalog, job: string): (run: RunSummary) => number | undefined {
  const policy = catalog.knownPolicy(job);
  const periods = policy && calendarPeriodsOf(policy);
  const { schedule } = catalog.expectationOf(job);
  if (!schedule || !periods || periods.target === 'previous') return () => undefined;
  return ({ periodStart: start, periodEnd: end, firstStartedAt, generation }) => {
    if (!start || !end || !firstStartedAt || firstStartedAt >= end || generation > 0) return undefined;
    const due = schedule.firstIn({ start, end });
    return due && Math.max(0, firstStartedAt.getTime() - due.getTime());
  };
}

/** Fewer runs show nothing. */
const [FEWEST_RUNS, RUNS] = [5, 20];

/** The middle one of its last 20 completed runs. `undefined` if there are fewer than five. */
export async function usualDurationOf(
  catalog: JobCatalog | undefined,
  job: string,
): Promise<number | undefined> {
  const runs = await catalog?.ledger.list({ job, states: ['completed'], limit: RUNS });
  const took = runs?.flatMap((run) => durationOf(run) ?? []) ?? [];
  return took.length < FEWEST_RUNS ? undefined : quantile(took);
}

interface ExpectedEnd {
  /** How much is done, from 0 to 1. `undefined` if nothing is known. */
  readonly share?: number;
  readonly leftMs?: number;
  /** Only if it takes longer than that. */
  readonly usualMs?: number;
}

/** Of a running job, by its progress, or else by how long its runs usually take, which is only asked then. */
export async function expectedEnd(
  { running }: Pick<JobOverview, 'running'>,
  passedMs: number,
  usual: () => Promise<number | undefined>,
): Promise<ExpectedEnd> {
  const { done = 0, total = 0 } = running.find((run) => run.done !== undefined) ?? {};
  if (total > 0 && done > 0)
    return { share: Math.min(1, done / total), leftMs: Math.max(0, (passedMs * (total - done)) / done) };
  const usualMs = await usual();
  if (usualMs === undefined) return {};
  if (passedMs > usualMs) return { share: 1, usualMs };
  return { share: passedMs / Math.max(usualMs, 1), leftMs: usualMs - passedMs };
}
