/** What a command shows, and what it asks. */
import type TableClass from 'cli-table3';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import { escapeUnsafe, logLine } from '../guard/log/logger';
import { timeText } from '../ledger/operator/state-of-run';

/** Where the command line reads and writes: the process, unless the caller of `main` gives another place. */
export type Io = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env' | 'exitCode'>;

export let io: Io = process;

export function useIo(place: Io): void {
  io = place;
}

export function print(text: string): void {
  io.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** A line about what a command does, which is not its result. */
export function printNote(text: string): void {
  io.stderr.write(`cronlatch: ${logLine(text)}\n`);
}

export function printWarning(text: string): void {
  printNote(`warning: ${text}`);
}

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
  print(text.split('\n').map(escapeUnsafe).join('\n'));
}

const NONE = '-';

export type Value = string | number | Date | undefined;

/** A value for people, on one line. A character that a terminal would obey is shown as its code. */
export function shown(value: Value): string {
  if (value === undefined) return NONE;
  return value instanceof Date ? timeText(value) : logLine(String(value));
}

/** For a shell, if the text has characters with a meaning there. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A call of the command line. After `--`, the parser takes no operand for an option. */
export function commandText(verb: string, operands: readonly string[], options: string): string {
  const text = operands.map(quoted).join(' ');
  const isPlain = operands.every((operand) => !operand.startsWith('-'));
  return `cronlatch ${verb} ${isPlain ? `${text}${options}` : `${options.trim()} -- ${text}`}`;
}

export type Style = 'red' | 'yellow' | 'green' | 'bold' | 'dim';

/** A value for people, in a colour if the terminal shows colours. */
export function styled(style: Style, value: Value): string {
  const hasColors = io.stdout.isTTY && io.stdout.hasColors();
  return hasColors ? styleText(style, shown(value)) : shown(value);
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

/** A row of a table: the cells by the names of their columns. A cell with a style is `[style, value]`. */
export type Row = Readonly<Record<string, Value | readonly [Style, Value]>>;

/** Prints a table, without the columns that have no value in any row. */
export function printTable(rows: readonly Row[]): void {
  const names = Object.keys(rows[0] ?? {}).filter((name) => rows.some((row) => row[name] !== undefined));
  if (names.length === 0) return;
  const cells = rows.map((row) => names.map((name) => textOf(row[name])));
  const { lines, width } = tableOf(names, cells);
  const isWide = width > (io.stdout.columns ?? (Number(io.env['COLUMNS']) || Infinity));
  print(isWide ? blocksOf(names, cells) : lines.join('\n'));
}

function textOf(cell: Row[string]): string {
  return typeof cell !== 'object' || cell instanceof Date ? shown(cell) : styled(...cell);
}

function tableOf(names: readonly string[], rows: readonly (readonly string[])[]) {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- only a command that prints a table loads it
  const Table = require('cli-table3') as typeof TableClass;
  const chars: Record<string, string> = { top: '-', 'top-mid': '--', middle: '  ' };
  for (const side of ['top', 'bottom', 'left', 'right', 'mid'])
    for (const name of [side, `${side}-mid`, `${side}-left`, `${side}-right`]) chars[name] ??= '';
  const table = new Table({
    head: names.map((name) => styled('dim', name)),
    chars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  // The border is as wide as the table on a terminal, where some characters take two columns.
  const [border = '', ...lines] = table.toString().split('\n');
  return { width: border.length, lines: lines.map((line) => line.trimEnd()) };
}

/** For a terminal that is too narrow for the table: each row as lines of `name: value`. */
function blocksOf(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const lineOf = (cell: string, column: number): string => `${styled('dim', `${names[column]}:`)} ${cell}`;
  return rows.map((row) => row.map(lineOf).join('\n')).join('\n\n');
}

/** Whether the operator sees the output and can answer a question. */
export function isInteractive(): boolean {
  return io.stdin.isTTY && io.stdout.isTTY;
}

/** @returns `false` also if the input ends without an answer */
export async function confirm(question: string): Promise<boolean> {
  io.stdout.write(`${question} [y/N] `);
  const lines = createInterface({ input: io.stdin });
  const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
  lines.close();
  if (answer === undefined) print('');
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** A reader such as `head` closes the pipe when it has read enough. Then the rest of the output is not needed. */
export function ignoreClosedPipes(fail: (error: unknown) => void): void {
  let hasFailed = false;
  for (const stream of [io.stdout, io.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || hasFailed) return;
      hasFailed = true;
      fail(error);
    });
}

/** Ends the process when all output is written, even if a file of the application keeps connections open. */
export function endProcess(): void {
  // An error of a write is emitted after its callback.
  const end = (): void => void setImmediate(() => process.exit());
  process.stdout.write('', () => process.stderr.write('', end));
}
