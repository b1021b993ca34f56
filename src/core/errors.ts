import type { SkipReason } from './execution/task-result';

const BRAND = Symbol.for('cronlatch.error');

/**
 * The base class of all errors of this library. `code` is stable. `instanceof` compares codes, so that it also works
 * for errors of a second installed copy.
 */
export class CronlatchError extends Error {
  static readonly code: string = 'CRONLATCH';
  readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    const type = new.target;
    this.name = (Object.hasOwn(type, 'code') ? NAMES[type.code] : undefined) ?? type.name;
    this.code = type.code;
    Object.defineProperty(this, BRAND, { value: codesOf(type) });
  }

  static override [Symbol.hasInstance](this: typeof CronlatchError, value: unknown): boolean {
    try {
      if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
      if (typeof value !== 'object' || value === null || !(BRAND in value)) return false;
      return Object.hasOwn(this, 'code') && (value[BRAND] as readonly string[]).includes(this.code);
    } catch {
      return false; // A job can throw anything, even a revoked Proxy, and this check must not throw.
    }
  }
}

/** By code, because minifiers rename classes. A subclass of an application keeps its own name. */
const NAMES: Readonly<Record<string, string>> = {
  CRONLATCH: 'CronlatchError',
  CRONLATCH_INVALID_CONFIGURATION: 'InvalidLockConfigurationError',
  CRONLATCH_INVALID_USE: 'InvalidLockUseError',
  CRONLATCH_NOT_CONFIGURED: 'NotConfiguredError',
  CRONLATCH_JOB_SKIPPED: 'JobSkippedError',
  CRONLATCH_LOCK_LOST: 'LockLostError',
  CRONLATCH_LOCK_NOT_HELD: 'LockNotHeldError',
  CRONLATCH_FATAL_JOB: 'FatalJobError',
  CRONLATCH_CLAIM_LOST: 'ClaimLostError',
  CRONLATCH_RUN_ALREADY_COMPLETED: 'RunAlreadyCompletedError',
  CRONLATCH_CALENDAR: 'CalendarError',
  CRONLATCH_STORAGE: 'LockStorageError',
  CRONLATCH_SCHEMA_MISMATCH: 'SchemaMismatchError',
};

function codesOf(type: typeof CronlatchError): readonly string[] {
  const parent = Object.getPrototypeOf(type) as typeof CronlatchError | typeof Error;
  return 'code' in parent ? [type.code, ...codesOf(parent)] : [type.code];
}

/** An invalid name, duration or identifier, or options that contradict each other. Thrown before anything runs. */
export class InvalidLockConfigurationError extends CronlatchError {
  static override readonly code = 'CRONLATCH_INVALID_CONFIGURATION';
}

/** A call that the API forbids, such as a second configured guard, or a guarded handler that returns a generator. */
export class InvalidLockUseError extends CronlatchError {
  static override readonly code = 'CRONLATCH_INVALID_USE';
}

/** A guarded job was called, but no guard is configured. The job did not run. */
export class NotConfiguredError extends CronlatchError {
  static override readonly code = 'CRONLATCH_NOT_CONFIGURED';
}

/** A call was skipped whose `onSkip` is `'throw'`. The job did not run. */
export class JobSkippedError extends CronlatchError {
  static override readonly code = 'CRONLATCH_JOB_SKIPPED';
  readonly reason: SkipReason;

  constructor(
    message: string,
    { reason = 'locked', ...options }: ErrorOptions & { readonly reason?: SkipReason } = {},
  ) {
    super(message, options);
    this.reason = reason;
  }
}

/** The lease ended while the job was still running. The job's signal aborts with this error as its reason. */
export class LockLostError extends CronlatchError {
  static override readonly code = 'CRONLATCH_LOCK_LOST';
}

/** `currentLock` was called outside a guarded run, or `LockAssert` or `LockExtender` outside a live lease. */
export class LockNotHeldError extends CronlatchError {
  static override readonly code = 'CRONLATCH_LOCK_NOT_HELD';
}

/** Throw it from a job that no retry can help. The run fails permanently, even if it has attempts left. */
export class FatalJobError extends CronlatchError {
  static override readonly code = 'CRONLATCH_FATAL_JOB';
}

/** The row of the run belongs to another attempt. This attempt's effects may be rolled back, or may happen twice. */
export class ClaimLostError extends CronlatchError {
  static override readonly code = 'CRONLATCH_CLAIM_LOST';
}

/** The run was already completed inside a transaction, so that its outcome cannot change any more. */
export class RunAlreadyCompletedError extends CronlatchError {
  static override readonly code = 'CRONLATCH_RUN_ALREADY_COMPLETED';
}

/** A business calendar threw (`cause` is its error), did not answer in time, or did not return a boolean. */
export class CalendarError extends CronlatchError {
  static override readonly code = 'CRONLATCH_CALENDAR';
}

export interface LockStorageErrorOptions extends ErrorOptions {
  outcome?: StorageOutcome;
  driverCode?: string | undefined;
}

/** The store failed or did not answer in time. If it happened while a lock was acquired, the handler did not run. */
export class LockStorageError extends CronlatchError {
  static override readonly code: string = 'CRONLATCH_STORAGE';
  readonly outcome: StorageOutcome;
  /** The error code of the driver or the server, for example `ER_NO_SUCH_TABLE`. */
  readonly driverCode: string | undefined;

  constructor(
    message: string,
    { outcome = 'unknown', driverCode, ...options }: LockStorageErrorOptions = {},
  ) {
    super(message, options);
    this.outcome = outcome;
    this.driverCode = driverCode;
  }
}

/** A table is missing, or does not have the columns that cronlatch needs. The message names the fix. */
export class SchemaMismatchError extends LockStorageError {
  static override readonly code = 'CRONLATCH_SCHEMA_MISMATCH';
}

/**
 * What is known about a statement that failed:
 *
 * - `nothing-ran`: the store refused it, or it was never sent.
 * - `contention`: the store rolled it back because of other transactions (deadlock, lock wait, busy). A retry is
 *   correct.
 * - `unknown`: it may or may not have taken effect, and may still do so (connection lost, no answer in time).
 */
export type StorageOutcome = 'nothing-ran' | 'contention' | 'unknown';

/** For `catch`: `undefined` after an error of these types. It throws any other one. */
export function noneAfter(...types: readonly (typeof CronlatchError)[]): (error: unknown) => undefined {
  return (error) => {
    if (!types.some((type) => error instanceof type)) throw error;
  };
}
