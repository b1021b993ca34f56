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

/** How long after its scheduled time a run began. `undefined` if that is not known, or its period had ended. */
export function delayOf(catalog: JobCatalog, run: RunSummary): number | undefined {
  const { job, periodStart: start, periodEnd: end, firstStartedAt, generation } = run;
  const policy = catalog.knownPolicy(job);
  const periods = policy && calendarPeriodsOf(policy);
  if (!start || !end || !periods || periods.target === 'previous') return undefined;
  const due = catalog.expectationOf(job).schedule?.firstIn({ start, end });
  if (!due || !firstStartedAt || firstStartedAt >= end || generation > 0) return undefined;
  return Math.max(0, firstStartedAt.getTime() - due.getTime());
}

/** Fewer runs show nothing. */
const [FEWEST_RUNS, RUNS] = [5, 20];

export interface ExpectedEnd {
  /** How much of the work is done, or of the usual time has passed: 0 to 1. */
  readonly share?: number;
  /** `undefined` once it takes longer than usual. */
  readonly leftMs?: number;
  /** The middle one of its last 20 completed runs. */
  readonly usualMs?: number;
}

/** By the rate of its progress, or else by how long its runs took. */
export async function expectedEnd(
  catalog: JobCatalog | undefined,
  { job, running }: Pick<JobOverview, 'job' | 'running'>,
  passedMs: number,
): Promise<ExpectedEnd> {
  const { done = 0, total = 0 } = running.find((run) => run.done !== undefined) ?? {};
  if (total > 0 && done > 0)
    return { share: Math.min(1, done / total), leftMs: Math.max(0, (passedMs * (total - done)) / done) };
  const runs = await catalog?.ledger.list({ job, states: ['completed'], limit: RUNS });
  const took = runs?.flatMap((run) => durationOf(run) ?? []) ?? [];
  if (took.length < FEWEST_RUNS) return {};
  const usualMs = quantile(took);
  return passedMs > usualMs
    ? { share: 1, usualMs }
    : { share: passedMs / Math.max(usualMs, 1), leftMs: usualMs - passedMs, usualMs };
}
