import {
  LockStorageError,
  SchemaMismatchError,
  type Clock,
  type EventHub,
  type StatementOptions,
} from '../core';
import { pause, statementRetryDelayMs } from '../core/clock';
import type { RunStore } from './run-store';

/** What every statement on runs needs. */
export interface StoreContext {
  readonly store: RunStore;
  readonly clock: Clock;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly statementTimeoutMs: number;
}

export function limitOf({ statementTimeoutMs }: StoreContext): StatementOptions {
  return { timeoutMs: statementTimeoutMs };
}

/** Before a statement that has failed is sent again. */
export async function pauseAfter(context: StoreContext, attempt: number): Promise<void> {
  await pause(context.clock, statementRetryDelayMs(context, attempt));
}

/**
 * Sends a statement that does no harm when it runs twice until the store has answered.
 *
 * @param giveUpAtMs monotonic: the last failure is thrown then
 * @param abandonedSignal once it has aborted, the last failure is thrown too
 */
export async function untilAnswered<T>(
  context: StoreContext,
  giveUpAtMs: number,
  statement: (options: StatementOptions) => Promise<T>,
  abandonedSignal?: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await statement(limitOf(context));
    } catch (error) {
      const mayPass = error instanceof LockStorageError && !(error instanceof SchemaMismatchError);
      if (!mayPass || abandonedSignal?.aborted || context.clock.monotonicMs() >= giveUpAtMs) throw error;
      await pauseAfter(context, attempt);
    }
  }
}

/** What everything that works on runs needs. */
export interface LedgerContext extends StoreContext {
  readonly events: EventHub;
}
