/** `1805/s`. */
export function rate(perSecond: number): string {
  return `${Math.round(perSecond)}/s`;
}

/** `0.508 ms`, `1.23 ms`, `250 ms`: three significant digits. */
export function milliseconds(value: number): string {
  return `${value >= 100 ? Math.round(value) : value.toFixed(value < 1 ? 3 : 2)} ms`;
}

/** `0.951`. Truncated, so that a value just below a goal does not look as if it had reached it. */
export function ratio(value: number): string {
  return (Math.floor(value * 1000) / 1000).toFixed(3);
}

/** A whole number, or two digits after the point. */
function count(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(2);
}

/** How numbers of a column are written. */
export const FORMATS = {
  rate,
  milliseconds,
  ratio,
  count,
  microseconds: (value: number) => `${value.toFixed(1)} µs`,
  megabytes: (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`,
  times: (value: number) => `${value.toFixed(1)} ×`,
  /** A ratio that a row is to reach. */
  goal: (value: number) => `≥ ${value}`,
  text: String,
};

export type Kind = keyof typeof FORMATS;

/** Aligns columns: the first and the last to the left, the numbers between them to the right. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const heads = rows[0] ?? [];
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => aligned(cell, column))
      .join('  ')
      .trimEnd(),
  );

  function aligned(cell: string, column: number): string {
    const width = widths[column] ?? 0;
    return column === 0 || column === heads.length - 1 ? cell.padEnd(width) : cell.padStart(width);
  }
}
