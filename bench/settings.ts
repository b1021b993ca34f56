import { parseArgs } from 'node:util';
import { SERVERS } from './databases';
import { ROWS } from './torture/rows';

/** In the order in which they are measured. */
const PARTS = ['locks', 'overhead', 'start', 'midnight', 'scale', 'dashboard', 'purge', 'torture'] as const;
export type Part = (typeof PARTS)[number];

/** The others need minutes before they can measure, or for every row, so they run only if they are named. */
const DEFAULT_PARTS: readonly Part[] = ['locks', 'overhead', 'start', 'midnight'];

/** SQLite has no connections to compare, and Redis has no tables. All other servers have every part. */
const PARTS_OF: Readonly<Record<string, readonly Part[]>> = {
  sqlite: ['locks', 'scale', 'purge', 'torture'],
  redis: ['locks'],
};

export function hasPart(server: string, part: Part): boolean {
  return PARTS_OF[server]?.includes(part) ?? true;
}

export interface Settings {
  readonly parts: readonly Part[];
  /** All supported servers by default. */
  readonly servers: readonly string[];
  /** The number of finished runs that a purge, or the part `scale`, finds. */
  readonly rows: number;
  /** For each side: one slice of each makes a round. */
  readonly slices: number;
  readonly sliceMs: number;
  readonly warmUpMs: number;
  readonly counted: number;
  readonly batch: number;
  readonly jobs: number;
  readonly processes: number;
  readonly nights: number;
  readonly starts: number;
  /** The only row of the torture, if one is named. */
  readonly row: number | undefined;
  /** After this time, no further part begins. */
  readonly longestMs: number;
  /** Prints JSON instead of tables. */
  readonly json: boolean;
  /** The file for a report with a plot. */
  readonly report: string | undefined;
  /** A command to measure beside the library. */
  readonly beside: string | undefined;
}

export const USAGE = `Usage: npm run bench [-- [PART | SERVER]… [OPTION]…]
  parts:   ${PARTS.join(', ')} (default: ${DEFAULT_PARTS.join(', ')})
  servers: ${SERVERS.join(', ')} (default: all that are available)
  options: --quick --slices N --slice-ms N --rows N --row N --jobs N --processes N --json --report FILE --beside 'COMMAND' --only PART`;

const USUAL = {
  slices: 40,
  sliceMs: 250,
  warmUpMs: 2000,
  counted: 320,
  batch: 20_000,
  nights: 3,
  starts: 9,
  jobs: 1000,
  processes: 8,
  longestMs: Infinity,
};
const QUICK = {
  slices: 6,
  sliceMs: 60,
  warmUpMs: 100,
  counted: 64,
  batch: 2000,
  nights: 1,
  starts: 3,
  jobs: 200,
  processes: 4,
  longestMs: 120_000,
};

/** @throws Error that describes the invalid argument */
export function parseSettings(args: string[]): Settings {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      rows: { type: 'string', default: '1000000' },
      row: { type: 'string' },
      jobs: { type: 'string' },
      processes: { type: 'string' },
      slices: { type: 'string' },
      'slice-ms': { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      report: { type: 'string' },
      beside: { type: 'string' },
    },
  });
  const named = [...positionals, ...(values.only === undefined ? [] : [checkedPart(values.only)])];
  const parts = PARTS.filter((part) => named.includes(part));
  const servers = SERVERS.filter((name) => named.includes(name));
  const unknown = named.find((name) => !isPart(name) && !SERVERS.includes(name));
  if (unknown !== undefined) throw new Error(`'${unknown}' is neither a part of the bench nor a server.`);
  const defaults = values.quick ? QUICK : USUAL;
  const measured = {
    parts: parts.length > 0 ? parts : DEFAULT_PARTS,
    servers: servers.length > 0 ? servers : SERVERS,
  };
  if (!measured.servers.some((server) => measured.parts.some((part) => hasPart(server, part))))
    throw new Error(`There is no part '${parts.join("' or '")}' for ${servers.join(' or ')}.`);
  return {
    ...measured,
    rows: wholeNumber('--rows', values.rows),
    row: values.row === undefined ? undefined : checkedRow(values.row),
    slices: values.slices === undefined ? defaults.slices : wholeNumber('--slices', values.slices),
    sliceMs:
      values['slice-ms'] === undefined ? defaults.sliceMs : wholeNumber('--slice-ms', values['slice-ms']),
    warmUpMs: defaults.warmUpMs,
    counted: defaults.counted,
    batch: defaults.batch,
    nights: defaults.nights,
    starts: defaults.starts,
    jobs: values.jobs === undefined ? defaults.jobs : wholeNumber('--jobs', values.jobs),
    longestMs: defaults.longestMs,
    processes:
      values.processes === undefined ? defaults.processes : wholeNumber('--processes', values.processes),
    json: values.json,
    report: values.report === undefined ? undefined : checkedReport(values.report),
    beside: values.beside === undefined ? undefined : checkedCommand(values.beside),
  };
}

function isPart(name: string): name is Part {
  return (PARTS as readonly string[]).includes(name);
}

function checkedPart(part: string): Part {
  if (isPart(part)) return part;
  throw new Error(`--only is '${part}': use ${PARTS.join(', ')}.`);
}

function checkedRow(row: string): number {
  if (ROWS.some(({ number }) => String(number) === row)) return Number(row);
  throw new Error(`--row is '${row}': use 1 to ${ROWS.length}.`);
}

function checkedReport(file: string): string {
  if (/.\.md$/.test(file)) return file;
  throw new Error(
    `--report is '${file}': use the name of a Markdown file, such as docs/reports/performance.md.`,
  );
}

function checkedCommand(command: string): string {
  if (command.trim() !== '') return command;
  throw new Error('--beside is empty: use a command.');
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  throw new Error(`${option} is '${text}': use a whole number from 1 on.`);
}
