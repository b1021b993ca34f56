import type { Round, Slice } from './alternate';
import { median, percentile } from './statistics';

export interface Figures {
  /** The median of the slices. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Calls per second divided by the baseline's: the median of the rounds. */
  readonly ratio: number;
  /** Half of the rounds lie between these. */
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
}

/**
 * Rates are compared only within a round, because the machine may have changed between two rounds.
 *
 * @param position of the contender. 0 is the baseline's.
 */
export function figuresOf(rounds: readonly Round[], position: number): Figures {
  const slices = rounds.flatMap((round) => round[position] ?? []);
  const ratios = rounds.map((round) => ratioIn(round, position));
  const latenciesMs = slices.flatMap((slice) => slice.latenciesMs);
  return {
    perSecond: median(slices.map(perSecond)),
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    ratio: median(ratios),
    lowerQuartile: percentile(ratios, 0.25),
    upperQuartile: percentile(ratios, 0.75),
  };
}

function ratioIn(round: Round, position: number): number {
  const [baseline, contender] = [round[0], round[position]];
  return baseline === undefined || contender === undefined ? NaN : perSecond(contender) / perSecond(baseline);
}

function perSecond({ elapsedMs, latenciesMs }: Slice): number {
  return (latenciesMs.length / elapsedMs) * 1000;
}
