import { LockStorageError, noneAfter, SchemaMismatchError, systemClock } from '../core';
import { withinLimit } from '../core/clock';
import type { JobGuard } from '../guard';
import { sharedZone } from '../guard/log/time-texts';
import type { ActQuery, StoredAct } from '../ledger';
import { zoneOf } from '../ledger/job-register';
import { operations, type Overview } from '../operations';
import type { Confirmation } from '../operations/acts/act';
import { catalogIfAny, type JobCatalog } from '../operations/job-catalog';
import type { WhenOfJob } from '../operations/overview';
import type { CachedReads } from './cached-reads';
import type { Access } from './options';

/** A form that was sent and comes back. */
export interface SentForm {
  readonly values: Readonly<Record<string, string>>;
  readonly error?: string | undefined;
  readonly confirmation?: Confirmation | undefined;
}

export interface View {
  readonly guard: JobGuard;
  readonly reads: CachedReads;
  readonly query: URLSearchParams;
  /** Of all times. */
  readonly timeZone: string;
  readonly when: WhenOfJob;
  /** The time of what a page shows: that of the database, or else that of this host. */
  readonly now: Date;
  readonly access: Access;
  readonly token: string;
  readonly hidesResults: boolean;
  readonly sent?: SentForm | undefined;
  readonly done?: string | undefined;
}

/** The address names something that does not exist. */
export class NotFoundError extends Error {}

type Source = Pick<View, 'reads' | 'guard'>;

export async function knownJobs({ reads, guard }: Source): Promise<JobCatalog | undefined> {
  return await reads.read('jobs', () => catalogIfAny(guard));
}

/** Pages of locks do not wait longer for the database of the runs. `undefined` if it fails, too. */
export async function soonKnown(source: Source): Promise<JobCatalog | undefined> {
  const known = knownJobs(source).catch(noneAfter(LockStorageError, SchemaMismatchError));
  const found = await withinLimit(systemClock, known, 500);
  return found === 'time-out' ? undefined : found;
}

/** That which all jobs have, or else UTC. */
export function zoneOfJobs({ register }: JobCatalog): string {
  const zones = (register?.jobs ?? []).map(({ declared }) => zoneOf(declared));
  return sharedZone(zones, 'UTC');
}

export async function overviewOf({ reads, guard, when }: View): Promise<Overview> {
  return await reads.read('overview', () => operations(guard).overview({ when }));
}

/** The newest acts of operators. Without the outcomes, which have results, if these are hidden. */
export async function newestActs(view: View, query: ActQuery): Promise<readonly StoredAct[]> {
  const known = await knownJobs(view);
  const key = `acts ${JSON.stringify(query)}`;
  const acts = await view.reads.read(key, async () => (await known?.acts(query)) ?? []);
  return view.hidesResults ? acts.map((act) => ({ ...act, outcome: undefined })) : acts;
}
