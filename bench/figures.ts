import type { Round, Slice } from './alternate';
import { median, percentile } from './statistics';

export interface Absolutes {
  readonly pairsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Figures {
  readonly baseline: Absolutes;
  readonly library: Absolutes;
  /** The library's pairs per second divided by the baseline's: the median of the rounds. */
  readonly ratio: number;
  /** Half of the rounds lie between these. */
  readonly lowerQuartile: number;
  readonly upperQuartile: number;
}

/** Rates are compared only within a round, because the machine may have changed between two rounds. */
export function figuresOf(rounds: readonly Round[]): Figures {
  const ratios = rounds.map(ratioOf);
  return {
    baseline: absolutesOf(rounds.map(({ baseline }) => baseline)),
    library: absolutesOf(rounds.map(({ library }) => library)),
    ratio: median(ratios),
    lowerQuartile: percentile(ratios, 0.25),
    upperQuartile: percentile(ratios, 0.75),
  };
}

export function ratioOf({ baseline, library }: Round): number {
  return pairsPerSecond(library) / pairsPerSecond(baseline);
}

function pairsPerSecond({ elapsedMs, latenciesMs }: Slice): number {
  return (latenciesMs.length / elapsedMs) * 1000;
}

function absolutesOf(slices: readonly Slice[]): Absolutes {
  const latenciesMs = slices.flatMap((slice) => slice.latenciesMs);
  return {
    pairsPerSecond: median(slices.map(pairsPerSecond)),
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
  };
}
