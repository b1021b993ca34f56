export function describeDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** How far an instant is from now, in the largest unit: `2 h ago` or `in 3 d`. */
export function relative(instant: Date | undefined, now: Date): string | undefined {
  if (instant === undefined) return undefined;
  const ms = instant.getTime() - now.getTime();
  const [unit, length] = UNITS.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? ['s', 1000];
  const text = `${Math.floor(Math.abs(ms) / length)} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}
