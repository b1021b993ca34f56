import { parseArgs } from 'node:util';
import { DATABASE_NAMES, type DatabaseName } from '../../support/databases/fresh';

/** How the workers hold locks in a database: by a row of the lock table, or by an open transaction. */
type ProviderName = (typeof PROVIDERS)[number];

const PROVIDERS = ['table', 'row'] as const;

/** Servers that keep the locks, while the ledger is in SQLite. The last three are ensembles of three. */
export type LockServer = (typeof LOCK_SERVERS)[number];

const LOCK_SERVERS = ['redis', 'sentinel', 'zookeeper', 'etcd'] as const;

export type CampaignServer = DatabaseName | LockServer;

/** What keeps the locks. */
export type Keeper = ProviderName | LockServer;

const SERVERS: readonly CampaignServer[] = [...DATABASE_NAMES, ...LOCK_SERVERS];

export interface CampaignOptions {
  readonly minutes: number;
  readonly server: CampaignServer;
  readonly keeper: Keeper;
  /** A replica must have confirmed a lock before it counts as granted. */
  readonly wait: boolean;
  /** Decides the faults and their times; what they hit depends on the machine. */
  readonly seed: number;
  /** The folder for the report. */
  readonly report: string;
}

export const USAGE = `Usage: npm run chaos -- --minutes M --server ${SERVERS.join('|')} [--provider ${PROVIDERS.join('|')}] [--wait] [--seed S] [--report FOLDER]
  M  more than 0, up to ${24 * 60}
  S  a whole number; chosen and reported if left out`;

/** A campaign that could not start, and why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const LARGEST_SEED = 2 ** 32 - 1;

/** @throws UsageError that describes the invalid argument */
export function parseOptions(args: string[]): CampaignOptions {
  const { minutes, server, seed, report, provider, wait } = given(args);
  if (server === undefined) throw new UsageError('--server is missing.');
  const name = SERVERS.find((known) => known === server);
  if (name === undefined) throw new UsageError(`--server is '${server}': this is not a supported server.`);
  if (wait && name !== 'sentinel') throw new UsageError('--wait needs --server sentinel.');
  if (minutes === undefined) throw new UsageError('--minutes is missing.');
  return {
    minutes: minutesOf(minutes),
    server: name,
    keeper: keeperOf(provider, name),
    wait,
    seed: seedOf(seed),
    report,
  };
}

function given(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        minutes: { type: 'string' },
        server: { type: 'string' },
        provider: { type: 'string', default: 'table' },
        wait: { type: 'boolean', default: false },
        seed: { type: 'string' },
        report: { type: 'string', default: '.build/chaos' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function keeperOf(text: string, server: CampaignServer): Keeper {
  const provider = PROVIDERS.find((known) => known === text);
  if (provider === undefined) throw new UsageError(`--provider is '${text}': use ${PROVIDERS.join(' or ')}.`);
  if (provider === 'row' && (server === 'sqlite' || isLockServer(server)))
    throw new UsageError(`--provider row needs a database server.`);
  return isLockServer(server) ? server : provider;
}

export function isLockServer(server: CampaignServer): server is LockServer {
  return LOCK_SERVERS.some((known) => known === server);
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
