import type { Verdict } from '../contest/goals';
import { columns, FORMATS, type Kind } from './format';

/** A value of a row. `undefined`: it was not measured, or does not apply. */
export type Value = number | string | undefined;

export interface Column {
  /** In the JSON. */
  readonly key: string;
  readonly label: string;
  readonly kind: Kind;
}

export interface Row {
  readonly name: string;
  readonly isBaseline?: boolean;
  readonly values: Readonly<Record<string, Value>>;
}

/** The result of one part on one server, in every form of the report. */
export interface Table {
  /** For example `mysql/pairs/16`. */
  readonly id: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** How it was measured, and what could not be. */
  readonly notes: readonly string[];
}

/** A table for a terminal. */
export function textOf({ title, columns: heads, rows, notes }: Table): string {
  const cells = rows.map((row) => cellsOf(row, heads));
  return [title, ...columns([['', ...heads.map(({ label }) => label)], ...cells]), ...notes].join('\n');
}

/** A table for a page. */
export function markdownOf({ title, columns: heads, rows, notes }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rules = ['---', ...heads.map(({ kind }) => (kind === 'text' ? '---' : '---:'))];
  return [
    `## ${title}`,
    '',
    line(['', ...heads.map(({ label }) => label)]),
    line(rules),
    ...rows.map((row) => line(cellsOf(row, heads).map((cell) => cell.replaceAll('|', '\\|')))),
    ...(notes.length === 0 ? [] : ['', notes.join('\n')]),
  ].join('\n');
}

function cellsOf({ name, values }: Row, heads: readonly Column[]): string[] {
  return [name, ...heads.map(({ key, kind }) => cellOf(values[key], kind))];
}

function cellOf(value: Value, kind: Kind): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? (VERDICTS[value] ?? value) : FORMATS[kind](value);
}

/** What is not as intended must be seen. */
const VERDICTS: Readonly<Record<string, string>> = {
  'below the goal': 'BELOW THE GOAL',
  missed: 'MISSED',
  unsettled: 'UNSETTLED: the machine is busy, run it again',
} satisfies Partial<Record<Verdict, string>>;
