import {
  LockStorageError,
  SchemaMismatchError,
  type Clock,
  type EventHub,
  type LockProvider,
  type StatementOptions,
  type StorageOutcome,
} from '../core';
import { pause, statementRetryDelayMs } from '../core/clock';
import type { Claim } from './run';
import type { RunOutput } from './run-log-store';
import type { RunStore } from './run-store';

const MOST_TRIES = 4;

export interface LedgerContext {
  readonly store: RunStore;
  readonly lockProvider: LockProvider;
  readonly clock: Clock;
  readonly events: EventHub;
  /** Between 0 and 1. */
  readonly random: () => number;
  readonly statementTimeoutMs: number;
  /** Names this process in the runs and in the register. */
  readonly instance: string;
  readonly logs?: { readonly open: (claim: Claim) => RunOutput } | undefined;
}

export function limitOf({ statementTimeoutMs }: LedgerContext): StatementOptions {
  return { timeoutMs: statementTimeoutMs };
}

export async function pauseAfter(context: LedgerContext, attempt: number): Promise<void> {
  await pause(context.clock, statementRetryDelayMs(context, attempt));
}

/** Sends a statement up to four times while its failure may pass. It must be harmless if it runs twice. */
export async function retryTransient<T>(
  context: LedgerContext,
  statement: (options: StatementOptions) => Promise<T>,
  isTransient: (outcome: StorageOutcome) => boolean,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await statement(limitOf(context));
    } catch (error) {
      if (!(error instanceof LockStorageError) || !isTransient(error.outcome) || tries === MOST_TRIES)
        throw error;
      await pauseAfter(context, tries);
    }
  }
}

/**
 * Sends a statement until the store has answered. The statement must be harmless if it runs twice.
 *
 * @param giveUpAtMs monotonic: from then on, a failure is thrown
 * @param isAbandoned asked after a failure: if so, it is thrown, too
 */
export async function retryUntilAnswered<T>(
  context: LedgerContext,
  giveUpAtMs: number,
  statement: (options: StatementOptions) => Promise<T>,
  isAbandoned: () => boolean = () => false,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await statement(limitOf(context));
    } catch (error) {
      const isTransient = error instanceof LockStorageError && !(error instanceof SchemaMismatchError);
      if (!isTransient || isAbandoned() || context.clock.monotonicMs() >= giveUpAtMs) throw error;
      await pauseAfter(context, attempt);
    }
  }
}
