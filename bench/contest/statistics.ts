/** The middle value; for an even number of values, the mean of the two middle ones. NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = ascending(values);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? NaN;
  return (lower + upper) / 2;
}

/**
 * The smallest value that is not exceeded by `share` of the values. NaN without values.
 *
 * @param share between 0 and 1: 0.99 for the 99th percentile
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = ascending(values);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

function ascending(values: readonly number[]): Float64Array {
  return Float64Array.from(values).sort();
}
