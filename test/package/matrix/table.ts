/** ✓: it can be used. ✗: it cannot be used. –: such projects do not exist. */
export type Cell = '✓' | '✗' | '–';

export interface Row {
  readonly kind: string;
  readonly subpath: string;
  readonly cells: readonly Cell[];
}

/** As text: a kind is named in its first row. */
export function tableOf(columns: readonly string[], rows: readonly Row[]): string {
  const wide = (texts: readonly string[]): number => Math.max(...texts.map((text) => text.length));
  const kindWidth = wide(rows.map(({ kind }) => kind));
  const subpathWidth = wide(rows.map(({ subpath }) => subpath));
  const line = (kind: string, subpath: string, cells: readonly string[]): string =>
    [
      kind.padEnd(kindWidth),
      subpath.padEnd(subpathWidth),
      ...cells.map((cell, i) => cell.padStart(columns[i]?.length ?? 0)),
    ].join('  ');
  const lines = rows.map(({ kind, subpath, cells }, i) =>
    line(rows[i - 1]?.kind === kind ? '' : kind, subpath, cells),
  );
  return [line('', '', columns), ...lines].join('\n');
}
