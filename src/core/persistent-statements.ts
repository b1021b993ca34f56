import { pause } from './clock';
import { momentOf, type Moment } from './deadline';
import { SchemaMismatchError, type LockStorageError } from './errors';
import { RELEASED_MARK } from './owner';
import {
  retryDelayMs,
  sendWithin,
  statementLimitMs,
  storageErrorOf,
  type StatementContext,
} from './statement-limits';
import type { LockRequest, StatementOptions } from './storage-accessor';

export interface Extension {
  readonly request: LockRequest;
  /** Monotonic. Asked at every failure, because the attempt itself may have moved it. */
  readonly giveUpAtMs: () => number;
  readonly onSending: (sentAt: Moment) => void;
}

/**
 * Sends an extension again while its outcome is unknown or contended: to extend twice does no harm.
 *
 * @returns when the confirmed statement was sent, or `undefined` when the lease is not ours any more
 */
export async function extendUntil(
  context: StatementContext,
  extension: Extension,
): Promise<{ sentAt: Moment } | undefined> {
  const { request, giveUpAtMs, onSending } = extension;
  const timeoutMs = statementLimitMs(context, request.lockAtMostForMs);
  for (let attempt = 0; ; attempt += 1) {
    const sentAt = momentOf(context.clock);
    onSending(sentAt);
    // Whoever waits for it may still work: it must not be waited for beyond the lease. One that nobody waits for may.
    const leftMs = giveUpAtMs() - sentAt.monotonicMs;
    const patienceMs = leftMs > 0 ? leftMs : Infinity;
    const send = (options: StatementOptions): Promise<boolean> => context.accessor.extend(request, options);
    try {
      return (await sendWithin(context, Math.min(timeoutMs, patienceMs), send, patienceMs))
        ? { sentAt }
        : undefined;
    } catch (error) {
      const failure = storageErrorOf(error, request.name);
      if (failure.outcome === 'nothing-ran') throw failure;
      await pauseBefore(context, attempt, giveUpAtMs(), failure);
    }
  }
}

export interface Release {
  readonly request: LockRequest;
  /** Whether the lease could be trusted when the release was asked for. */
  readonly wasLive: boolean;
  readonly giveUpAtMs: () => number;
}

/**
 * Sends a release until the store has confirmed it or the lease has ended by itself.
 *
 * @returns whether the lock was still ours
 */
export async function unlockUntil(context: StatementContext, release: Release): Promise<boolean> {
  const { request, giveUpAtMs } = release;
  const timeoutMs = statementLimitMs(context, request.lockAtMostForMs);
  let unsettled = false;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const isOurs = await sendWithin(context, timeoutMs, (options) =>
        context.accessor.unlock(request, options),
      );
      // What was refused may have been released by our own statement of a moment ago.
      if (isOurs || !unsettled) return isOurs;
      return (await settled(context, release, timeoutMs)) ?? false;
    } catch (error) {
      const failure = storageErrorOf(error, request.name);
      if (failure instanceof SchemaMismatchError) throw failure;
      unsettled ||= failure.outcome === 'unknown';
      if (failure.outcome === 'unknown') {
        // Still unknown: the release is sent again, or the first failure reported.
        const answer = await settled(context, release, timeoutMs).catch(() => undefined);
        if (answer !== undefined) return answer;
      }
      await pauseBefore(context, attempt, giveUpAtMs(), failure);
    }
  }
}

/**
 * What became of a release whose reply was lost: whether the lock was still ours, or `undefined` while it is. The mark of
 * a release says that it took effect; so do another owner and no row, unless the lease was over before: then they tell
 * of its end.
 */
async function settled(
  context: StatementContext,
  { request: { name, owner }, wasLive }: Release,
  timeoutMs: number,
): Promise<boolean | undefined> {
  const record = await sendWithin(context, timeoutMs, (options) =>
    context.accessor.find(name, { ...options, purpose: 'resolve' }),
  );
  if (record?.lockedBy === `${owner}${RELEASED_MARK}`) return true;
  if (record?.lockedBy !== owner) return wasLive;
  return record.held ? undefined : false;
}

async function pauseBefore(
  context: StatementContext,
  attempt: number,
  giveUpAtMs: number,
  failure: LockStorageError,
): Promise<void> {
  const delayMs = retryDelayMs(context, attempt);
  if (context.clock.monotonicMs() + delayMs >= giveUpAtMs) throw failure;
  await pause(context.clock, delayMs);
}
