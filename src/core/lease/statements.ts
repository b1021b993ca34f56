import { pause, statementRetryDelayMs, withinLimitOr, momentOf, type Clock, type Moment } from '../clock';
import { DAY_MS } from '../duration';
import { describeValue } from '../options';
import { LockStorageError, SchemaMismatchError } from '../errors';
import type { LockObserver } from '../lock';
import type { LockTerms } from '../lock-configuration';
import type { LeaseOwner } from './owner';
import type { Grant, LeaseAccessor, LockRecord, LockRequest, StatementOptions } from './storage-accessor';

export interface StatementContext {
  readonly accessor: LeaseAccessor;
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** `false`: a release deletes the record. */
  readonly keepRows: boolean;
  readonly observer?: LockObserver;
}

/** A third of the lease, so that a statement and the read that settles it leave the job a third. */
export function statementLimitMs(context: StatementContext, lockAtMostForMs: number): number {
  return Math.min(lockAtMostForMs / 3, context.statementTimeoutMs);
}

export interface SentGrant {
  readonly grant: Grant;
  readonly sentAt: Moment;
}

/**
 * An accessor with `keepsTimeLimits` enforces the limit itself, because it knows best whether a statement ran. For
 * any other, cronlatch stops waiting after twice the limit and a second, or after `waitAtMostMs`.
 */
export function sendWithin<T>(
  { clock, accessor }: StatementContext,
  limits: { readonly name: string; readonly timeoutMs: number; readonly waitAtMostMs?: number },
  statement: (options: StatementOptions) => Promise<T>,
): Promise<T> {
  const { name, timeoutMs, waitAtMostMs = Infinity } = limits;
  if (accessor.keepsTimeLimits) return statement({ timeoutMs });
  const limitMs = Math.min(2 * timeoutMs + 1000, waitAtMostMs);
  const timeoutError = (): Error =>
    new LockStorageError(`The store did not answer for lock '${name}' within ${Math.round(limitMs)} ms.`);
  return withinLimitOr(clock, statement({ timeoutMs }), limitMs, timeoutError);
}

/** An accessor may throw anything. Any error but a `LockStorageError` leaves the outcome unknown. */
export function storageErrorOf(error: unknown, name: string): LockStorageError {
  if (error instanceof LockStorageError) return error;
  const why = error instanceof Error ? error.message : describeValue(error);
  return new LockStorageError(`The store failed on lock '${name}': ${why}`, { cause: error });
}

/** For a statement that failed behind another one: it may not have run, but the other one may have. */
export function unknownOutcome(error: LockStorageError): LockStorageError {
  if (error.outcome === 'unknown') return error;
  const { message, driverCode } = error;
  return new LockStorageError(message, { outcome: 'unknown', driverCode, cause: error });
}

interface LeaseStatement {
  readonly terms: Pick<LockTerms, 'name' | 'lockAtMostForMs' | 'lockAtLeastForMs'>;
  readonly owner: LeaseOwner;
  /** Monotonic. Called after every failure, because the statement itself may have moved the deadline. */
  readonly giveUpAtMs: () => number;
}

export interface Extension extends LeaseStatement {
  readonly leaseMs: number;
  readonly onSending: (sentAt: Moment) => void;
}

/**
 * Sends an extension again while its outcome is unknown or contended.
 *
 * @returns when the confirmed statement was sent, or `undefined` if the lease is no longer ours
 */
export async function extendUntil(
  context: StatementContext,
  extension: Extension,
): Promise<{ sentAt: Moment } | undefined> {
  const { terms, owner, leaseMs, giveUpAtMs, onSending } = extension;
  const { name, lockAtLeastForMs } = terms;
  const timeoutMs = statementLimitMs(context, leaseMs);
  const sentAtByOwner = new Map<string, Moment>();
  for (let attempt = 0; ; attempt += 1) {
    const sentAt = momentOf(context.clock);
    const nextOwner = owner.next();
    sentAtByOwner.set(nextOwner, sentAt);
    onSending(sentAt);
    // The caller may still be working, so never wait past the end of the lease. No caller waits for a renewal.
    const leftMs = giveUpAtMs() - sentAt.monotonicMs;
    const waitAtMostMs = leftMs > 0 ? leftMs : Infinity;
    const send = <T>(statement: (options: StatementOptions) => Promise<T>): Promise<T> =>
      sendWithin(context, { name, timeoutMs: Math.min(timeoutMs, waitAtMostMs), waitAtMostMs }, statement);
    const request = { name, owner: owner.current, nextOwner, lockAtMostForMs: leaseMs, lockAtLeastForMs };
    try {
      if (await send((options) => context.accessor.extend(request, options))) {
        owner.confirm(nextOwner);
        return { sentAt };
      }
      if (!owner.hasUnsettledExtension) return undefined;
      // An earlier extension may have taken effect meanwhile. Then its value is the current one.
      const record = await send((options) => context.accessor.find(name, { ...options, purpose: 'resolve' }));
      if (record === undefined || owner.stateOf(record) !== 'held') return undefined;
      if (record.lockedBy === owner.current) return undefined;
      owner.confirm(record.lockedBy);
      const settledSentAt = sentAtByOwner.get(record.lockedBy);
      if (settledSentAt !== undefined) return { sentAt: settledSentAt };
    } catch (error) {
      const failure = storageErrorOf(error, name);
      if (failure.outcome === 'nothing-ran') throw failure;
      if (failure.outcome === 'unknown') owner.hasUnsettledExtension = true;
      await pauseBefore(context, attempt, giveUpAtMs(), failure);
    }
  }
}

export interface Release extends LeaseStatement {
  /** Whether the lease could be trusted when the release was requested. */
  readonly wasLive: boolean;
  /** Left out if a release that matches nothing proves the loss: an extension has proved it before. */
  readonly granted?: SentGrant | undefined;
}

/**
 * Sends a release until the store has confirmed it or the lease has expired. A release that matches nothing during the
 * lease contradicts the grant. Unless a newer record explains it, the record is lost, or a server lags behind.
 *
 * @returns whether the lock was still ours
 * @throws LockStorageError if only an older record, or none, was found until the lease ended
 */
export async function unlockUntil(context: StatementContext, release: Release): Promise<boolean> {
  const { terms, owner, wasLive, giveUpAtMs, granted } = release;
  const { name, lockAtMostForMs, lockAtLeastForMs } = terms;
  const timeoutMs = statementLimitMs(context, lockAtMostForMs);
  let mayBeReleased = false;
  let isContradicted = false;
  for (let attempt = 0; ; attempt += 1) {
    const request = { name, owner: owner.current, lockAtMostForMs, lockAtLeastForMs };
    const answer = await sendWithin(context, { name, timeoutMs }, (options) =>
      releaseRecord(context, request, options),
    ).catch((error: unknown) => storageErrorOf(error, name));
    if (answer === true) return true;
    if (answer instanceof SchemaMismatchError) throw answer;
    let failure = answer === false ? staleAnswer(name) : answer;
    mayBeReleased ||= answer !== false && failure.outcome === 'unknown';
    const wasContradicted = isContradicted;
    isContradicted ||=
      answer === false && granted !== undefined && context.clock.monotonicMs() < giveUpAtMs();
    // An earlier release or extension may have taken effect meanwhile.
    const needsRead = isContradicted || mayBeReleased || owner.hasUnsettledExtension;
    if (answer === false && !needsRead) return false;
    if (answer === false || failure.outcome === 'unknown') {
      const state = await readState(context, release, timeoutMs).catch((error: unknown) => {
        // If this read fails too, the release is sent again or the first failure is thrown.
        if (answer === false) failure = storageErrorOf(error, name);
        return undefined;
      });
      if (state === 'released') return mayBeReleased;
      if (state === 'not-ours') return mayBeReleased && wasLive;
      if (state === 'expired') return false;
      if (state === 'older' && context.accessor.waitsForNodes === false) {
        context.observer?.contradicted?.(failure);
        return mayBeReleased && wasLive;
      }
      if (state === 'held' && answer === false) {
        if (owner.current !== request.owner) continue;
        if (granted === undefined) return false;
      }
    }
    if (isContradicted && !wasContradicted) context.observer?.contradicted?.(failure);
    await pauseBefore(context, attempt, giveUpAtMs(), failure);
  }
}

function staleAnswer(name: string): LockStorageError {
  return new LockStorageError(
    `Could not release lock '${name}': the store has only an older row of it, or none. ` +
      `If the row was not deleted or restored, a server that lags behind has answered. Connect all instances to the same server, or set wsrep_sync_wait on Galera and group_replication_consistency on MySQL Group Replication.`,
  );
}

/** How long after its grant a lock is kept. Without `lockAtLeastFor`, the grant may even lie ahead of the store's clock. */
export const keptForMs = (lockAtLeastForMs: number): number => lockAtLeastForMs || -36_500 * DAY_MS;

/** Without `keepRows`, the record is deleted, unless `lockAtLeastFor` still keeps the lock. */
export function releaseRecord(
  { accessor, keepRows }: Pick<StatementContext, 'accessor' | 'keepRows'>,
  request: LockRequest,
  options: StatementOptions,
): Promise<boolean> {
  const unlock = (): Promise<boolean> => accessor.unlock(request, options);
  if (keepRows || accessor.deleteRecord === undefined) return unlock();
  return accessor.deleteRecord(request, options).then((isDeleted) => isDeleted || unlock());
}

/**
 * Reads the row to settle a release. The mark of a release shows that it took effect. Another owner or a missing row
 * shows the same, unless the lease had ended before, or the row is older than the lease.
 */
async function readState(
  context: StatementContext,
  { terms: { name }, owner, granted }: Release,
  timeoutMs: number,
): Promise<ReturnType<LeaseOwner['stateOf']> | 'older'> {
  const record = await sendWithin(context, { name, timeoutMs }, (options) =>
    context.accessor.find(name, { ...options, purpose: 'resolve' }),
  );
  const state = owner.stateOf(record);
  if (record !== undefined && state === 'held') owner.confirm(record.lockedBy);
  if (state !== 'not-ours' || granted === undefined) return state;
  const isKept = context.keepRows && context.accessor.keepsRecords === true;
  const isStale = record === undefined ? isKept : isOlder(record, granted);
  return isStale ? 'older' : state;
}

/** Whether the record of another owner was written before the grant. Its token decides. */
function isOlder({ fencingToken, lockedAt }: LockRecord, { grant, sentAt }: SentGrant): boolean {
  if (fencingToken !== undefined && grant.fencingToken !== undefined)
    return fencingToken < grant.fencingToken;
  return lockedAt !== undefined && lockedAt.getTime() < sentAt.wallMs;
}

async function pauseBefore(
  context: StatementContext,
  attempt: number,
  giveUpAtMs: number,
  failure: LockStorageError,
): Promise<void> {
  const delayMs = statementRetryDelayMs(context, attempt);
  if (context.clock.monotonicMs() + delayMs >= giveUpAtMs) throw failure;
  await pause(context.clock, delayMs);
}
