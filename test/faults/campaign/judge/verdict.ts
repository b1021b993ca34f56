import { checkOrder, checkPairs } from './check-grants';
import { checkRuns } from './check-runs';
import { checkSamples } from './check-samples';
import { checkVerdicts } from './check-verdicts';
import type { Evidence } from './evidence';
import { counted, figuresOf, type Figures } from './figures';
import { grantsIn } from './grants';
import { lostLease } from './lost-lease';
import { causeOf, overlapsIn } from './overlaps';

export interface Verdict {
  readonly figures: Figures;
  /** Overlaps that a lease cannot prevent, by cause. */
  readonly explained: Readonly<Record<string, number>>;
  readonly unexplained: readonly string[];
  /** Leases that a fault ended before their time, or whose holder got a wrong answer, by cause and promise. */
  readonly cutShort: Readonly<Record<string, number>>;
  /** The reasons why the campaign failed, a sentence each. */
  readonly complaints: readonly string[];
}

/** @param expected the kinds of faults that had enough time to happen */
export function verdictOn(evidence: Evidence, expected: readonly string[]): Verdict {
  const grants = grantsIn(evidence);
  const figures = figuresOf(evidence, grants);
  const explained: Record<string, number> = {};
  const unexplained: string[] = [];
  for (const overlap of overlapsIn(evidence)) {
    const { name, first, second } = overlap;
    const cause = causeOf(overlap, evidence, grants.get(name) ?? []);
    if (cause !== undefined) explained[cause] = (explained[cause] ?? 0) + 1;
    else
      unexplained.push(
        `overlap: worker ${second.worker} (token ${second.token}) entered '${name}' at ${second.atMs.toFixed()} ms while worker ${first.worker} (token ${first.token}) was inside`,
      );
  }
  const causeByLease = new Map<string, string>();
  const broken: string[] = [];
  for (const all of grants.values())
    for (const { lease, atMs, complaint, excuse } of [
      ...checkPairs(evidence, all),
      ...checkVerdicts(evidence, all),
    ]) {
      const cause = excuse ?? lostLease(evidence, lease, atMs);
      if (cause === undefined) broken.push(complaint);
      else causeByLease.set(`${lease.name} ${lease.token}`, `${cause} (${complaint.slice(0, 2)})`);
    }
  const complaints = [
    ...unexplained,
    ...broken,
    ...[...grants.values()].flatMap(checkOrder),
    ...checkSamples(evidence),
    ...checkRuns(evidence),
    ...evidence.journal.flatMap((entry) => (entry.k === 'strange' ? [`strange: ${entry.error}`] : [])),
    ...expected.filter((kind) => !(kind in figures.faults)).map((kind) => `no such fault happened: ${kind}`),
    ...(figures.grants === 0 ? ['nothing was granted'] : []),
    ...(Object.keys(figures.faults).length === 0 ? ['nothing was struck'] : []),
  ];
  const cutShort = counted([...causeByLease.values()]);
  return { figures, explained, unexplained, cutShort, complaints };
}
