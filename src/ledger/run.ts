import { createHash, randomUUID } from 'node:crypto';
import type { LockProvider, RunIdentity } from '../core';
import { isAhead } from '../core/clock';
import { refuseOption } from '../core/options';
import type { RunState } from './run-state';

/** The width of the columns for jobs, scopes and periods. */
export const LONGEST_KEY = 64;
/** With a margin for the longest period around an instant. Microseconds since 1970 are exact until 2255. */
const [FIRST_YEAR, LAST_YEAR] = [1700, 2250];
export const STORABLE = `valid Date in the years ${FIRST_YEAR} to ${LAST_YEAR}`;

/** Identifies a run by its job, scope and period. Each has at most one row. */
export interface RunKey {
  readonly job: string;
  /** Empty for a job without scopes, such as tenants or regions. */
  readonly scope: string;
  readonly periodKey: string;
}

export interface RunPeriod {
  /** `undefined`, like the end, for custom keys. */
  readonly periodStart: Date | undefined;
  readonly periodEnd: Date | undefined;
  readonly timeZone: string | undefined;
}

export function newRunOf(
  { job, scope }: Pick<RunKey, 'job' | 'scope'>,
  period: { readonly key: string; readonly start?: Date | undefined; readonly end?: Date | undefined },
  timeZone: string | undefined,
): RunKey & RunPeriod {
  return { job, scope, periodKey: period.key, periodStart: period.start, periodEnd: period.end, timeZone };
}

/** A run's row without its result and its error. All instants are the database's. */
export interface RunSummary extends RunKey, RunPeriod {
  readonly state: RunState;
  /** How often an operator has rerun it. */
  readonly generation: number;
  /** The number of the last attempt of this generation: 0 before the first one. */
  readonly attempt: number;
  /** When a pending or failed run is due; `undefined` if it will not be retried. */
  readonly nextAttemptAt: Date | undefined;
  /** Unique for each attempt. Stays after the attempt has ended. */
  readonly claimedBy: string | undefined;
  /** The lock under which the attempt was started. */
  readonly lockId: string | undefined;
  readonly fencingToken: number | undefined;
  /** The latest possible end of the attempt's lease, renewals included. */
  readonly leaseUntil: Date | undefined;
  /** When the first attempt of this generation started. */
  readonly firstStartedAt: Date | undefined;
  readonly startedAt: Date | undefined;
  readonly finishedAt: Date | undefined;
  readonly reason: string | undefined;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** How many runs of one job and state have a period that begins in one quarter of an hour, in UTC. */
export interface RunCount {
  readonly job: string;
  readonly state: RunState;
  /** The start of the quarter. */
  readonly start: Date;
  readonly count: number;
  /** The mean time from start to finish of the runs that have both. `undefined` if none has. */
  readonly meanMs: number | undefined;
}

export interface Run extends RunSummary {
  /** The handler's result as JSON. If it is longer than 64 KiB, it is cut and marked. */
  readonly result: string | undefined;
  /** The error of the last failed attempt. If it is longer than 8 KiB, it is cut and marked. */
  readonly error: string | undefined;
}

/** How far an attempt is, as `currentRun().progress()` has reported it last. */
export interface RunProgress {
  readonly done?: number | undefined;
  readonly total?: number | undefined;
}

/** A run with the beginning of its error. A running one also has the progress of its attempt, if it has reported any. */
export type LatestRun = RunSummary & Partial<Pick<Run, 'error'>> & RunProgress;

/** An attempt that failed, was lost or replaced, or an act of an operator. `'purged'`: the runs before it were purged. */
export type RunEventKind =
  | 'failed'
  | 'lost'
  | 'completed-late'
  | 'given-back'
  | 'requested'
  | 'rerun'
  | 'resolved'
  | 'skipped'
  | 'purged';

export interface RunEvent {
  readonly at: Date;
  readonly generation: number;
  readonly attempt: number;
  readonly kind: RunEventKind;
  /** The holder of the claim, or the operator. At most 255 characters. */
  readonly actor: string;
  readonly fencingToken: number | undefined;
  readonly detail: string | undefined;
}

/** One attempt, as its holder identifies it. */
export interface Claim extends RunIdentity {
  readonly claimedBy: string;
}

/** Whether a run is due, or its row is `running`, so that its holder may be gone. */
export function isOverdue({ state, nextAttemptAt }: RunSummary, now: Date): boolean {
  if (state === 'running') return true;
  return (state === 'pending' || state === 'failed') && nextAttemptAt !== undefined && nextAttemptAt <= now;
}

/** Runs are ordered by the beginning of their period, or by their creation if they have none. */
export function placeInTime({ periodStart, createdAt }: RunSummary): number {
  return (periodStart ?? createdAt).getTime();
}

/** Whether it waits or has ended, and has a time that lies ahead of the database's clock. */
export function isRunAhead({ state, startedAt, updatedAt }: Partial<RunSummary>, now?: Date): boolean {
  return state !== 'running' && (isAhead(startedAt, now) || isAhead(updatedAt, now));
}

/** The reason of a run whose attempt ended with its lease. Its process may still live. */
export const LEASE_ENDED = 'lease-ended';

/** The reason of a run that the guard has made up, as long as its row needs no other one. */
export function madeUpMark({ reason }: Pick<RunSummary, 'reason'>): string | undefined {
  return reason === 'made-up' ? reason : undefined;
}

export function describeRun({ job, scope, periodKey }: RunKey): string {
  return `the run of job '${job}'${scope === '' ? '' : ` (${scope})`} for ${periodKey}`;
}

/** The part of a run that its events contain. */
export function identityOf({ job, scope, periodKey, generation, attempt }: RunIdentity): RunIdentity {
  return { job, scope, periodKey, generation, attempt };
}

/** @throws InvalidLockConfigurationError for an instant whose period some databases could not store */
export function checkInstant(instant: Date | undefined, what: string): void {
  if (instant === undefined || isStorable(instant)) return;
  refuseOption(what, instant, `it must be a ${STORABLE}`);
}

export function isStorable(instant: Date): boolean {
  const year = instant instanceof Date ? instant.getUTCFullYear() : NaN;
  return year >= FIRST_YEAR && year <= LAST_YEAR;
}

/** The width of the column of lock ids. */
const LONGEST_LOCK_ID = 128;
const KEPT = 63;

/** Random places for providers without an id. Each counts as a place of its own. */
const unnamedPlaces = new WeakMap<LockProvider, string>();

/** Identifies the lock under which a run was started. Two attempts under the same lock cannot both hold it. */
export function lockIdOf(provider: LockProvider, lockName: string): string {
  if (provider.id === undefined && !unnamedPlaces.has(provider)) unnamedPlaces.set(provider, randomUUID());
  const id = `${provider.id ?? unnamedPlaces.get(provider)}/${lockName}`;
  const characters = Array.from(id);
  if (characters.length <= LONGEST_LOCK_ID) return id;
  return `${characters.slice(0, KEPT).join('')}#${createHash('sha256').update(id).digest('hex')}`;
}

/** The same for a process that has taken no lock yet. `undefined` if it cannot read the place of the locks. */
export async function readLockId(provider: LockProvider, lockName: string): Promise<string | undefined> {
  if (provider.id === undefined) await provider.refreshId?.();
  return provider.id === undefined ? undefined : lockIdOf(provider, lockName);
}
