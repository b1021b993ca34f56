import { parseArgs } from 'node:util';
import { DATABASE_NAMES, type DatabaseName } from '../../support/databases';
import { ROWS, type Row } from './rows';

export interface TortureOptions {
  /** cronlatch's database. */
  readonly server: DatabaseName;
  readonly rows: readonly Row[];
}

export const USAGE = `Usage: npm run torture [-- --server ${DATABASE_NAMES.join('|')}] [--row N]
  Six rows of faults, each for node-cron's own "distributed: true" with Redis and for cronlatch.
  --server  cronlatch's database; mysql if it is left out
  --row     only that row:
${ROWS.map(({ number, title }) => `    ${number}  ${title}`).join('\n')}`;

/** A torture that could not start, and why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * @returns `'help'` if help was requested
 * @throws UsageError that describes the invalid argument
 */
export function parseOptions(args: string[]): TortureOptions | 'help' {
  const { help, server, row } = given(args);
  if (help) return 'help';
  const name = DATABASE_NAMES.find((known) => known === server);
  if (name === undefined)
    throw new UsageError(`--server is '${server}': cronlatch does not support this database.`);
  const rows = ROWS.filter(({ number }) => row === undefined || String(number) === row);
  if (rows.length === 0) throw new UsageError(`--row is '${row}': there is no such row.`);
  return { server: name, rows };
}

function given(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        help: { type: 'boolean', default: false },
        server: { type: 'string', default: 'mysql' },
        row: { type: 'string' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
