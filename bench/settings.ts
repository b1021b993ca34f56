import { parseArgs } from 'node:util';
import { DATABASES } from './databases';

export interface Settings {
  /** All supported servers by default; servers that are named must be available. */
  readonly servers: readonly string[];
  readonly required: readonly string[];
  /** `'purge'` measures `ledger.purge` instead of locks. */
  readonly part: 'locks' | 'purge';
  /** The number of finished runs that a purge finds. */
  readonly rows: number;
  /** For each side: one slice of each makes a round. */
  readonly slices: number;
  readonly sliceMs: number;
}

export const USAGE = `Usage: npm run bench [-- [--slices N] [--slice-ms N] [--only purge [--rows N]] [${Object.keys(DATABASES).join(' | ')}]…]`;

/** @throws Error that describes the invalid argument */
export function parseSettings(args: string[]): Settings {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      only: { type: 'string', default: 'locks' },
      rows: { type: 'string', default: '1000000' },
      slices: { type: 'string', default: '40' },
      'slice-ms': { type: 'string', default: '250' },
    },
  });
  for (const name of positionals)
    if (!Object.hasOwn(DATABASES, name)) throw new Error(`The bench does not support server '${name}'.`);
  const { only: part } = values;
  if (part !== 'locks' && part !== 'purge') throw new Error(`--only is '${part}': use locks or purge.`);
  return {
    part,
    rows: wholeNumber('--rows', values.rows),
    servers: positionals.length > 0 ? positionals : Object.keys(DATABASES),
    required: positionals,
    slices: wholeNumber('--slices', values.slices),
    sliceMs: wholeNumber('--slice-ms', values['slice-ms']),
  };
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,7}$/.test(text)) return Number(text);
  throw new Error(`${option} is '${text}': use a whole number from 1 on.`);
}
