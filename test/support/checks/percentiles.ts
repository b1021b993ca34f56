/** As a text. */
export function percentiles(durationsMs: readonly number[]): string {
  const sorted = [...durationsMs].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.ceil(share * sorted.length) - 1] ?? NaN).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, largest ${at(1)} ms`;
}
