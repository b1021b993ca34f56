import { parseArgs } from 'node:util';
import { DATABASE_NAMES, type DatabaseName } from '../../support/databases';

export interface CampaignOptions {
  readonly minutes: number;
  readonly server: DatabaseName;
  /** Decides the faults and their times; what they hit depends on the machine. */
  readonly seed: number;
  /** The folder for the report. */
  readonly report: string;
}

export const USAGE = `Usage: npm run chaos -- --minutes M --server ${DATABASE_NAMES.join('|')} [--seed S] [--report FOLDER]
  M  more than 0, up to ${24 * 60}
  S  a whole number; chosen and reported if left out`;

/** A campaign that could not start, and why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const LARGEST_SEED = 2 ** 32 - 1;

/** @throws UsageError that describes the invalid argument */
export function parseOptions(args: string[]): CampaignOptions {
  const { minutes, server, seed, report } = given(args);
  if (server === undefined) throw new UsageError('--server is missing.');
  const name = DATABASE_NAMES.find((known) => known === server);
  if (name === undefined) throw new UsageError(`--server is '${server}': this is not a supported server.`);
  if (minutes === undefined) throw new UsageError('--minutes is missing.');
  return { minutes: minutesOf(minutes), server: name, seed: seedOf(seed), report };
}

function given(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        minutes: { type: 'string' },
        server: { type: 'string' },
        seed: { type: 'string' },
        report: { type: 'string', default: '.build/chaos' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function minutesOf(text: string): number {
  const minutes = /^\d{1,4}(\.\d{1,2})?$/.test(text) ? Number(text) : NaN;
  if (minutes > 0 && minutes <= 24 * 60) return minutes;
  throw new UsageError(`--minutes is '${text}': this is not a valid duration.`);
}

function seedOf(text: string | undefined): number {
  if (text === undefined) return Math.floor(Math.random() * LARGEST_SEED);
  if (/^\d{1,10}$/.test(text) && Number(text) <= LARGEST_SEED) return Number(text);
  throw new UsageError(`--seed is '${text}': use a whole number up to ${LARGEST_SEED}.`);
}
