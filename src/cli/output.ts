import type TableClass from 'cli-table3';
import { stripVTControlCharacters, styleText } from 'node:util';
import { logLine } from '../guard/log/log-message';
import { print } from './terminal';

/** Raised when a field changes its meaning or goes away. A new field does not raise it. */
const JSON_VERSION = 1;

/** Prints the result of a command for machines. Instants are ISO texts, and a missing value is `null`. */
export function printJson(command: string, result: object): void {
  const text = JSON.stringify(
    { version: JSON_VERSION, command, ...result },
    (_key, value: unknown) => value ?? null,
    2,
  );
  // JSON leaves some characters as they are that a terminal would obey.
  print(text.replace(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export type Style = 'red' | 'yellow' | 'green' | 'bold' | 'dim';

/** Colours a text for a terminal that shows colours. The text must come from this program or from `shown`. */
export function styled(style: Style, text: string): string {
  return process.stdout.isTTY && process.stdout.hasColors() ? styleText(style, text) : text;
}

const NONE = '-';

/** A value for people, on one line. A character that a terminal would obey is shown as its code. */
export function shown(value: string | number | Date | undefined): string {
  if (value === undefined) return NONE;
  if (!(value instanceof Date)) return logLine(String(value));
  return Number.isNaN(value.getTime()) ? NONE : `${value.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** How far an instant is from now, in the largest unit: `2 h ago` or `in 3 d`. */
export function relative(instant: Date | undefined, now: Date): string {
  if (instant === undefined) return NONE;
  const ms = instant.getTime() - now.getTime();
  const [unit, length] = UNITS.find(([, unitMs]) => Math.abs(ms) >= unitMs) ?? ['s', 1000];
  const text = `${Math.floor(Math.abs(ms) / length)} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/**
 * Prints a table, without the columns that have no value in any row.
 *
 * @param given cells that are shown as they are: call `shown` for every value from elsewhere
 */
export function printTable(names: readonly string[], given: readonly (readonly string[])[]): void {
  const isUsed = names.map((_name, column) => given.some((row) => row[column] !== NONE));
  const [head, ...rows] = [names, ...given].map((row) => row.filter((_cell, column) => isUsed[column]));
  if (head === undefined) return;
  const table = tableOf(head, rows);
  const width = Math.max(...table.map((line) => stripVTControlCharacters(line).length));
  print((width <= terminalWidth() ? table : blocksOf(head, rows)).join('\n'));
}

function terminalWidth(): number {
  return process.stdout.columns ?? (Number(process.env['COLUMNS']) || Infinity);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- only a command that prints a table loads it
  const Table = require('cli-table3') as typeof TableClass;
  const none = Object.fromEntries(
    ['top', 'bottom', 'left', 'right', 'mid'].flatMap((side) =>
      [side, `${side}-mid`, `${side}-left`, `${side}-right`].map((name) => [name, '']),
    ),
  );
  const table = new Table({
    head: head.map((name) => styled('dim', name)),
    chars: { ...none, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd());
}

/** For a terminal that is too narrow for the table: each row as lines of `name: value`. */
function blocksOf(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const blocks = rows.map((row) =>
    row.map((cell, column) => `${styled('dim', `${head[column]}:`)} ${cell}`).join('\n'),
  );
  return [blocks.join('\n\n')];
}
