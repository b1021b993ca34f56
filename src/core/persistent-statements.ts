import { pause } from './clock';
import { momentOf, type Moment } from './deadline';
import { SchemaMismatchError, type LockStorageError } from './errors';
import {
  retryDelayMs,
  sendWithin,
  statementLimitMs,
  storageErrorOf,
  type StatementContext,
} from './statement-limits';
import type { LockRequest } from './storage-accessor';

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
    try {
      return (await sendWithin(context, timeoutMs, (options) => context.accessor.extend(request, options)))
        ? { sentAt }
        : undefined;
    } catch (error) {
      const failure = storageErrorOf(error, request.name);
      if (failure.outcome === 'nothing-ran') throw failure;
      await pauseBefore(context, attempt, giveUpAtMs(), failure);
    }
  }
}

/**
 * Sends a release until the store has confirmed it or the lease has ended by itself.
 *
 * @returns whether the lock was still ours
 */
export async function unlockUntil(
  context: StatementContext,
  release: { request: LockRequest; giveUpAtMs: () => number },
): Promise<boolean> {
  const { request, giveUpAtMs } = release;
  const timeoutMs = statementLimitMs(context, request.lockAtMostForMs);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await sendWithin(context, timeoutMs, (options) => context.accessor.unlock(request, options));
    } catch (error) {
      const failure = storageErrorOf(error, request.name);
      if (failure instanceof SchemaMismatchError) throw failure;
      if (failure.outcome === 'unknown' && (await isReleased(context, request, timeoutMs))) return true;
      await pauseBefore(context, attempt, giveUpAtMs(), failure);
    }
  }
}

/** The mark of a release, another owner or no row: all say that a release whose reply was lost took effect. */
async function isReleased(
  context: StatementContext,
  request: LockRequest,
  timeoutMs: number,
): Promise<boolean> {
  try {
    const record = await sendWithin(context, timeoutMs, (options) =>
      context.accessor.find(request.name, { ...options, purpose: 'resolve' }),
    );
    return record?.lockedBy !== request.owner;
  } catch {
    return false; // Still unknown: the caller sends the release again, or reports the first failure.
  }
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
