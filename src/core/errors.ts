const BRAND = Symbol.for('cronlatch.error');

/**
 * Every error of this library. `code` is stable. `instanceof` compares codes, so that it also holds for an error
 * that comes from a second installed copy.
 */
export class CronlatchError extends Error {
  static readonly code: string = 'CRONLATCH';
  readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    const type = new.target;
    this.name = nameOf(type);
    this.code = type.code;
    Object.defineProperty(this, BRAND, { value: codesOf(type) });
  }

  static override [Symbol.hasInstance](this: typeof CronlatchError, value: unknown): boolean {
    try {
      if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
      if (typeof value !== 'object' || value === null || !(BRAND in value)) return false;
      return Object.hasOwn(this, 'code') && (value[BRAND] as readonly string[]).includes(this.code);
    } catch {
      return false; // A job may throw anything, also a revoked Proxy, and what is decided then must not fail.
    }
  }
}

/** By code, for a minifier gives classes other names. An application may extend a class, and names its own. */
const NAMES: Readonly<Record<string, string>> = {
  CRONLATCH: 'CronlatchError',
  CRONLATCH_INVALID_CONFIGURATION: 'InvalidLockConfigurationError',
  CRONLATCH_INVALID_USE: 'InvalidLockUseError',
  CRONLATCH_NOT_CONFIGURED: 'NotConfiguredError',
  CRONLATCH_LOCK_LOST: 'LockLostError',
  CRONLATCH_LOCK_NOT_HELD: 'LockNotHeldError',
  CRONLATCH_FATAL_JOB: 'FatalJobError',
  CRONLATCH_CLAIM_LOST: 'ClaimLostError',
  CRONLATCH_RUN_ALREADY_COMPLETED: 'RunAlreadyCompletedError',
  CRONLATCH_CALENDAR: 'CalendarError',
  CRONLATCH_STORAGE: 'LockStorageError',
  CRONLATCH_SCHEMA_MISMATCH: 'SchemaMismatchError',
};

function nameOf(type: typeof CronlatchError): string {
  return (Object.hasOwn(type, 'code') ? NAMES[type.code] : undefined) ?? type.name;
}

/** The codes of a class and of those that it extends. */
function codesOf(type: typeof CronlatchError): readonly string[] {
  const parent = Object.getPrototypeOf(type) as typeof CronlatchError | typeof Error;
  return 'code' in parent ? [type.code, ...codesOf(parent)] : [type.code];
}

/** A name, a duration, an identifier or a combination of options that cannot be meant. Thrown before anything runs. */
export class InvalidLockConfigurationError extends CronlatchError {
  static override readonly code = 'CRONLATCH_INVALID_CONFIGURATION';
}

/** A call that the API refuses where it stands: a guarded handler that returns a generator, a second guard, and so on. */
export class InvalidLockUseError extends CronlatchError {
  static override readonly code = 'CRONLATCH_INVALID_USE';
}

/** A guarded job was called and no guard is configured. It did not run. */
export class NotConfiguredError extends CronlatchError {
  static override readonly code = 'CRONLATCH_NOT_CONFIGURED';
}

/** The lease is over while the job still runs: the reason of its aborted signal. */
export class LockLostError extends CronlatchError {
  static override readonly code = 'CRONLATCH_LOCK_LOST';
}

/** `LockAssert` or `LockExtender` was called outside a live lease. */
export class LockNotHeldError extends CronlatchError {
  static override readonly code = 'CRONLATCH_LOCK_NOT_HELD';
}

/** Thrown by a job that no retry can help: its run fails for good, whatever attempts are left. */
export class FatalJobError extends CronlatchError {
  static override readonly code = 'CRONLATCH_FATAL_JOB';
}

/** The row of a run says that it is not this attempt's any more: the attempt's effects may come to nothing, or twice. */
export class ClaimLostError extends CronlatchError {
  static override readonly code = 'CRONLATCH_CLAIM_LOST';
}

/** The run has been completed already, inside a transaction, so that nothing more can be said of it. */
export class RunAlreadyCompletedError extends CronlatchError {
  static override readonly code = 'CRONLATCH_RUN_ALREADY_COMPLETED';
}

/** The business calendar of a job threw, did not answer in time, or returned no boolean. `cause` is what it threw. */
export class CalendarError extends CronlatchError {
  static override readonly code = 'CRONLATCH_CALENDAR';
}

export interface LockStorageErrorOptions extends ErrorOptions {
  outcome?: StorageOutcome;
  driverCode?: string | undefined;
}

/** The store failed, or did not answer in time. When it was asked for a lock, the handler did not run. */
export class LockStorageError extends CronlatchError {
  static override readonly code: string = 'CRONLATCH_STORAGE';
  /** What is known of the statement that failed. */
  readonly outcome: StorageOutcome;
  /** The code of the driver or the server, for example `ER_NO_SUCH_TABLE`. */
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

/** The lock table is missing or does not have the shape that the lock needs. The message names the remedy. */
export class SchemaMismatchError extends LockStorageError {
  static override readonly code = 'CRONLATCH_SCHEMA_MISMATCH';
}

/**
 * What is known of a statement that ended in an error:
 *
 * - `nothing-ran`: the store refused it, or it was never sent.
 * - `contention`: the store undid it because of other transactions (deadlock, lock wait, busy). Trying again is right.
 * - `unknown`: it may or may not have taken effect, now or later (connection lost, no answer in time).
 */
export type StorageOutcome = 'nothing-ran' | 'contention' | 'unknown';
