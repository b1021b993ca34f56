import { percentile } from '../../../../bench/contest/statistics';
import { isTransactional } from '../worker/orders';
import type { Evidence } from './evidence';
import { certainEndMs, isDeletedBetween, type Grant } from './grants';

/** In milliseconds. */
export interface Spread {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

export interface Figures {
  /** Calls that reached the database, without those refused in the process. */
  readonly attempts: number;
  readonly grants: number;
  readonly held: number;
  readonly failed: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly grantsWithAtLeast: number;
  readonly staleWritesRefused: number;
  readonly writes: number;
  /** From the end of a killed holder's lease to the next grant of its name, by the database's clock. */
  readonly recovery: Spread;
  /**
   * From the end of a lease, as its holder computed it, to its abort signal, if the event loop was free all
   * the time.
   */
  readonly notice: Spread;
  readonly runs: {
    readonly completed: number;
    readonly transactional: number;
    /** Completed by a later attempt than the first. */
    readonly repeated: number;
    readonly byVerdict: Readonly<Record<string, number>>;
  };
}

/** A loop that was blocked for longer does not count as free. */
const FREE_MS = 20;

export function figuresOf(evidence: Evidence, grants: ReadonlyMap<string, readonly Grant[]>): Figures {
  const { journal, injections, testimonies, runs } = evidence;
  const results = journal.flatMap((entry) => (entry.k === 'answer' ? [entry] : []));
  const verdicts = counted(results.map(({ verdict }) => verdict));
  const writes = testimonies.flatMap((testimony) => (testimony.event === 'write' ? [testimony] : []));
  const completed = runs.filter(({ state }) => state === 'completed');
  return {
    attempts: journal.filter(({ k }) => k === 'request').length,
    grants: verdicts['granted'] ?? 0,
    held: verdicts['held'] ?? 0,
    failed: verdicts['failed'] ?? 0,
    faults: counted(injections.map(({ kind }) => kind)),
    grantsWithAtLeast: results.filter(({ verdict, atLeastMs }) => verdict === 'granted' && atLeastMs > 0)
      .length,
    staleWritesRefused: writes.filter(({ accepted }) => !accepted).length,
    writes: writes.length,
    recovery: spreadOf(recoveries(evidence, grants)),
    notice: spreadOf(
      journal.flatMap((entry) =>
        entry.k === 'lost' && entry.stalledMs <= FREE_MS && entry.lateMs > -FREE_MS ? [entry.lateMs] : [],
      ),
    ),
    runs: {
      completed: completed.length,
      transactional: completed.filter(({ key }) => isTransactional(key)).length,
      repeated: completed.filter(({ attempt }) => attempt > 1).length,
      byVerdict: counted(journal.flatMap((entry) => (entry.k === 'run' ? [entry.verdict] : []))),
    },
  };
}

/** Of killed holders, if the server was up and the operator did not delete the row. */
function recoveries(evidence: Evidence, grants: ReadonlyMap<string, readonly Grant[]>): number[] {
  const kills = evidence.injections.filter(({ kind }) => kind === 'SIGKILL');
  const outages = evidence.injections.filter(({ kind }) => kind === 'server killed');
  const deaths = new Map(kills.map(({ worker, fromMs }) => [worker, fromMs]));
  return [...grants.values()].flatMap((all) =>
    all.flatMap((grant, i) => {
      const diedMs = deaths.get(grant.worker);
      const next = all[i + 1];
      if (diedMs === undefined || next === undefined || grant.release !== undefined) return [];
      const endMs = certainEndMs(grant);
      const isDisturbed =
        diedMs > endMs ||
        isDeletedBetween(evidence, grant.name, grant.countedFromMs, next.grantedMs) ||
        outages.some(({ fromMs, untilMs }) => untilMs >= endMs && fromMs <= next.grantedMs);
      return isDisturbed ? [] : [next.grantedMs - endMs];
    }),
  );
}

function spreadOf(values: readonly number[]): Spread {
  const rounded = (value: number): number => Math.round(value * 10) / 10;
  return {
    count: values.length,
    p50: rounded(percentile(values, 0.5)),
    p99: rounded(percentile(values, 0.99)),
    longest: rounded(percentile(values, 1)),
  };
}

export function counted<K extends string>(kinds: readonly K[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
