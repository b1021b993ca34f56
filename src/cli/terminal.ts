import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import { hostTimeZone } from '../core/clock';
import { escapeUnsafe, logLine } from '../guard/log/logger';
import { sharedZone, shortTime, spokenTime } from '../guard/log/time-texts';
import type { WhenOfJob } from '../operations/overview';
import type { Tone } from '../operations/state-texts';
import { commandOf, quoted, type Remedy } from '../ledger/operator/remedy';
import { timeText } from '../ledger/operator/state-of-run';

/** Where the command line reads and writes: the process, unless the caller of `main` gives another place. */
export type Io = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env' | 'exitCode'>;

export let io: Io = process;

export function useIo(place: Io): void {
  io = place;
}

/** What is printed while `printed` waits. */
let kept: string[] | undefined;

export function print(text: string): void {
  const lines = text.endsWith('\n') ? text : `${text}\n`;
  if (kept === undefined) io.stdout.write(lines);
  else kept.push(lines);
}

export async function printed(show: () => unknown): Promise<string> {
  kept = [];
  try {
    await show();
    return kept.join('');
  } finally {
    kept = undefined;
  }
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

/** What remarks about jobs have for machines: the command of their remedy, too. */
export function withCommands<R extends { readonly remedy?: Remedy | undefined }>(remarks: readonly R[]) {
  return remarks.map((remark) => ({ ...remark, command: remark.remedy && commandOf(remark.remedy) }));
}

const NONE = '-';

export type Value = string | number | Date | undefined;

/** A value for people, on one line. A character that a terminal would obey is shown as its code. */
export function shown(value: Value): string {
  if (value === undefined) return NONE;
  return value instanceof Date ? timeText(value) : logLine(String(value));
}

type Style = Tone | 'bold';

/** A value for people, in a colour if the output has colours. */
export function styled(style: Style | undefined, value: Value): string {
  const text = shown(value);
  return style !== undefined && hasColors() ? styleText(style, text, { validateStream: false }) : text;
}

function hasColors(): boolean {
  const { FORCE_COLOR: forced, NO_COLOR: none } = io.env;
  return forced ? !/^(0|false)$/.test(forced) : !none && io.stdout.isTTY && io.stdout.hasColors(io.env);
}

let isUtc = false;

/** Whether instants are shown in UTC instead of in the time zone of their job. */
export function useUtc(is = false): void {
  isUtc = is;
}

/** The zone of the texts about a job. */
export function zoneFor(timeZone: string): string {
  return isUtc ? 'UTC' : timeZone;
}

/** An instant in the time zone of its job. */
export function at(instant: Date | undefined, timeZone = 'UTC'): string | undefined {
  return instant && timeText(instant, zoneFor(timeZone));
}

/** For a text that stands alone: with its offset. */
export const whenInWhole: WhenOfJob = (instant, { timeZone }) => `at ${at(instant, timeZone)}`;

/** Short times in one time zone, which a head names: that of the jobs, or that of this terminal if they differ. */
export function timesOf(zones: readonly (string | undefined)[], now: Date) {
  const timeZone = zoneFor(sharedZone(zones, hostTimeZone()));
  return {
    head: `times in ${timeZone}`,
    at: (instant: Date | undefined): string | undefined => instant && shortTime(instant, timeZone, now),
    when: (instant: Date | undefined): string => spokenTime(instant, timeZone, now),
  };
}

/** A terminal that does not report its width has 0 columns. Anything else has no width, so nothing is cut for it. */
function lineWidth(): number {
  const { columns } = io.stdout as { readonly columns?: number };
  return columns === undefined ? Infinity : columns || Number(io.env['COLUMNS']) || Infinity;
}

/** The characters that can take two columns of a terminal. */
const WIDE = /[\u1100-\u11ff\u2e80-\uff60\uffe0-\u{10ffff}]|\p{Emoji_Presentation}/u;

function widthOf(text: string): number {
  return [...text].reduce((width, character) => width + (WIDE.test(character) ? 2 : 1), 0);
}

/** Lines of whole words. Only a word that is longer than a line makes its line longer. */
function linesOf(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line === undefined || widthOf(line) + 1 + widthOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

/** Without its end, or the middle of a name. */
function shortened(text: string, width: number, isText: boolean): string {
  const characters = [...text];
  let [excess, place] = [widthOf(text) - width, 0];
  if (excess <= 0) return text;
  while (excess >= 0) {
    place = isText ? characters.length - 1 : characters.length >> 1;
    excess -= widthOf(characters.splice(place, 1)[0] ?? '…');
  }
  characters.splice(place, 0, '…');
  return characters.join('');
}

/** Prints sentences for people, which wrap between words. */
export function printText(text: string, style?: Style, indent = ''): void {
  const lines = linesOf(shown(text).split(' '), lineWidth() - indent.length);
  print(lines.map((line) => `${indent}${styled(style, line)}`).join('\n'));
}

/** Prints sentences, and the command of a remedy. It wraps between its arguments, so that it can be pasted. */
export function printAdvice(
  { text, remedy }: { readonly text: string; readonly remedy?: Remedy | undefined },
  style?: Style,
): void {
  printText(text, style);
  if (remedy === undefined) return;
  const words = ['cronlatch', ...commandOf(remedy).map((arg) => shown(quoted(arg)))];
  const lines = linesOf(words, lineWidth() - 4);
  print(lines.map((line) => `  ${styled('bold', line)}`).join(' \\\n'));
}

/** A row of a table: the cells by the names of their columns. A cell with a style is `[style, value]`. */
export type Row = Readonly<Record<string, Value | readonly [Style, Value]>>;

/** For a narrow terminal: the columns to leave out, the least important one first, that whose text wraps, and that which has the rest. */
export interface Layout {
  readonly drop?: readonly string[];
  readonly wrap?: string | undefined;
  /** Its text is cut at the end. */
  readonly rest?: string | undefined;
}

/** Texts keep this width, and the names in the first column that one, as long as other columns can drop. */
const [LEAST, SHORT] = [26, 12];
const GAP = '  ';

/**
 * Prints a table, without the columns that have no value in any row. If it is wider than the terminal, the text wraps,
 * then columns drop, and then the longest names are shortened.
 */
export function printTable(rows: readonly Row[], { drop = [], wrap, rest }: Layout = {}): void {
  const [fullest = {}] = rows.toSorted((one, other) => Object.keys(other).length - Object.keys(one).length);
  const names = Object.keys(fullest).filter((name) => rows.some((row) => row[name] !== undefined));
  let columns = names.map((name): Column => {
    const cells = [['dim', name] as const, ...rows.map((row) => cellOf(row[name]))];
    return { name, cells, width: Math.max(...cells.map(([, text]) => widthOf(text))) };
  });
  const excess = (most = Infinity): number =>
    columns.reduce((sum, { width }) => sum + Math.min(width, most) + GAP.length, -GAP.length) - lineWidth();
  const last = columns.find(({ name }) => name === rest);
  if (last) last.width = Math.max(SHORT, last.width - Math.max(0, excess()));
  if (excess() > 0)
    for (const dropped of drop)
      if (excess(rest ? SHORT : LEAST) > 0) columns = columns.filter(({ name }) => name !== dropped);
  while (excess() > 0) {
    const text = columns.find(({ name, width }) => name === wrap && width > LEAST);
    const longest = columns.reduce((one, other) => (other.width > one.width ? other : one));
    const name = columns.find(({ width }) => longest.width <= LEAST && width > SHORT);
    if (longest.width === 1) break;
    (text ?? name ?? longest).width -= 1;
  }
  if (columns.length > 0)
    print([undefined, ...rows].flatMap((_, row) => linesOfRow(columns, row, { wrap, rest })).join('\n'));
}

interface Column {
  readonly name: string;
  /** That of the head is the first. */
  readonly cells: readonly (readonly [Style | undefined, string])[];
  width: number;
}

function linesOfRow(columns: readonly Column[], row: number, { wrap, rest }: Layout): string[] {
  const cells = columns.map(({ name, cells: all, width }) => {
    const [style, text = ''] = all[row] ?? [];
    const lines = name === wrap ? linesOf(text.split(' '), width) : [text];
    return lines.map((line) => [style, shortened(line, width, name === rest)] as const);
  });
  return Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, line) => {
    const padded = columns.map(({ width }, column) => {
      const [style, text] = cells[column]?.[line] ?? [undefined, ''];
      return styled(style, text) + ' '.repeat(Math.max(0, width - widthOf(text)));
    });
    return padded.join(GAP).trimEnd();
  });
}

function cellOf(cell: Row[string]): readonly [Style | undefined, string] {
  const [style, value] = typeof cell !== 'object' || cell instanceof Date ? [undefined, cell] : cell;
  return [style, shown(value)];
}

/** Whether the operator sees the output and can answer a question. */
export function isInteractive(): boolean {
  return io.stdin.isTTY && io.stdout.isTTY;
}

/** After a no, and also if the input ends without an answer, nothing changes, and the command ends with the exit code 1. */
export async function confirm(question: string): Promise<boolean> {
  io.stdout.write(`${question} [y/N] `);
  const lines = createInterface({ input: io.stdin });
  const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [string?];
  lines.close();
  if (answer === undefined) print('');
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return true;
  print('nothing changed');
  io.exitCode = 1;
  return false;
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
