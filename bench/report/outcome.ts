import { linesOf, type Surroundings } from './surroundings';
import type { Table } from './table';

/** All that one call of the bench has measured. */
export interface Outcome {
  readonly surroundings: Surroundings;
  readonly tables: readonly Table[];
  readonly missing: readonly Missing[];
}

/** A server or part that was not measured. */
export interface Missing {
  readonly name: string;
  readonly reasons: readonly string[];
}

/** Changes with every change that a reader of the JSON must know. */
const JSON_VERSION = 1;

/** For a program: see README.md. Columns of text repeat for people what other values contain. */
export function jsonOf({ surroundings, tables, missing }: Outcome): string {
  const rows = tables.map(({ id, title, rows: all, notes }) => ({
    ...{ id, title, notes },
    rows: all.map(({ name, isBaseline = false, values }) => ({ name, isBaseline, ...values })),
  }));
  return JSON.stringify(
    { format: 'cronlatch-bench', version: JSON_VERSION, ...surroundings, tables: rows, missing },
    undefined,
    2,
  );
}

/** What follows the tables on a terminal. */
export function endOf({ surroundings, tables, missing }: Outcome): string {
  return [
    ...(tables.length > 0 ? linesOf(surroundings) : []),
    ...byReasons(missing).map(({ names, reasons }) =>
      [`NOT MEASURED: ${names.join('; ')}`, ...reasons].join('\n  '),
    ),
  ].join('\n');
}

/** One entry for all that have the same reasons, such as the time of a quick run. */
export function byReasons(
  missing: readonly Missing[],
): readonly { readonly names: readonly string[]; readonly reasons: readonly string[] }[] {
  const found = new Map<string, { names: string[]; reasons: readonly string[] }>();
  for (const { name, reasons } of missing) {
    const same = found.get(reasons.join('\n')) ?? { names: [], reasons };
    same.names.push(name);
    found.set(reasons.join('\n'), same);
  }
  return [...found.values()];
}
