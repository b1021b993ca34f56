import type { LockLostError } from '../errors';
import type { SkipReason } from './task-result';

/** The fields that all events of a lock have. */
export interface LockEvent {
  readonly name: string;
  /**
   * The name of the job, which is the same for all of its calls: its `label` if a function names its locks. `undefined`
   * for a lock that no job has requested.
   */
  readonly job?: string | undefined;
  readonly scheduledAt: Date | undefined;
  /** The guard has made the run up: no instance had answered the tick of its scheduled time. */
  readonly madeUp?: true | undefined;
}

/** The fields of an event that reports a tick whose job did not run. */
export interface MissedTickEvent extends LockEvent {
  /** `runOverdue` retries the tick until its run is recorded. If `false`, the tick is lost. */
  readonly willRetry: boolean;
}

/** Identifies one run of a once-per job, and its attempt. */
export interface RunIdentity {
  readonly job: string;
  readonly scope: string;
  readonly periodKey: string;
  readonly generation: number;
  /** 0 if no attempt has begun. */
  readonly attempt: number;
}

/** A lock that this process holds. */
export interface RunningLock {
  readonly name: string;
  /** `undefined` for a lock that no job has requested. */
  readonly job: string | undefined;
  /** The run of the ledger that the holder works on. */
  readonly run: RunIdentity | undefined;
  /** When it was granted, by the clock of this host. */
  readonly since: Date;
  /** How long the lease lasts without a further renewal, by the clock of this host. */
  readonly until: Date;
  readonly fencingToken: number | undefined;
}

/** The fields that all events of a run have. */
export interface RunLockEvent extends LockEvent {
  /** `undefined` for a job that has only a lock. */
  readonly run?: RunIdentity | undefined;
}

/** The outcome of one call of a job through the guard. */
export interface TickEvent extends RunLockEvent {
  /** `'lock-failed'`: the job did not run, for one of the reasons of `lock:failed`. */
  readonly outcome: 'completed' | 'failed' | 'skipped' | 'lock-failed';
  readonly reason?: RunSkipReason | undefined;
  /** The duration of the handler. `undefined` if it was not called. */
  readonly durationMs?: number | undefined;
  /** Set if the call failed, or its lock did. */
  readonly error?: unknown;
}

/** Why a run was skipped. `'given-back'`: its handler has called `giveBack()`, or the closing guard has stopped it. */
export type RunSkipReason = SkipReason | 'given-back';

/**
 * All events and their payloads. They are also published on `node:diagnostics_channel`, as `cronlatch:` + the event's
 * name. Node ends the process if a subscriber of a channel throws, and offers no way to prevent that. A listener of
 * `guard.on` may throw.
 */
export interface CronlatchEvents {
  'lock:acquired': LockEvent & { readonly fencingToken: number | undefined };
  /** The job did not run here. `heldBy` and `heldUntil` are read at most once a minute per name, else `undefined`. */
  'lock:skipped': MissedTickEvent & {
    readonly reason: SkipReason;
    readonly heldBy: string | undefined;
    readonly heldUntil: Date | undefined;
  };
  /** The job did not run, because its lock or its run is uncertain, or because the scheduler dropped the tick. */
  'lock:failed': MissedTickEvent & { readonly error: unknown };
  'lock:extended': LockEvent & { readonly lockAtMostForMs: number };
  'lock:lost': LockEvent & { readonly error: LockLostError };
  /** `stillOurs` is `false` if the lease had ended before: it expired, its row was lost, or an operator or a holder ended it. */
  'lock:released': LockEvent & { readonly stillOurs: boolean };
  /** The job has ended, but its lock stays held until its lease expires: the store did not confirm the release. */
  'lock:releaseFailed': LockEvent & { readonly error: unknown };
  /** An operator ended the lease of a holder. */
  'lock:forced': LockEvent & {
    readonly heldBy: string;
    readonly heldUntil: Date;
    readonly actor: string;
    readonly reason: string;
  };
  'run:started': RunLockEvent & { readonly fencingToken: number | undefined };
  /** `lockLost`: a job that has only a lock had lost it before it ended. Another instance may have run it meanwhile. */
  'run:completed': RunLockEvent & { readonly durationMs: number; readonly lockLost?: true };
  /** `retryAt` is set if the ledger retries the run, and `isFinal` if only an operator can rerun it. */
  'run:failed': RunLockEvent & {
    readonly error: unknown;
    readonly durationMs: number;
    readonly retryAt?: Date | undefined;
    readonly isFinal?: boolean | undefined;
  };
  /** The ledger refused the run, or the job gave it back or skipped it. `durationMs`: the handler was called. */
  'run:skipped': RunLockEvent & {
    readonly reason: RunSkipReason;
    readonly durationMs?: number | undefined;
  };
  /** The closing guard has stopped the handler by its signal. The run is due at once, and the attempt does not count. */
  'run:givenBack': RunLockEvent & { readonly durationMs: number };
  /** The lease of an attempt ended, and its holder has not come back. The attempt that `run` names repeats its work. */
  'run:takenOver': RunLockEvent & { readonly lostAttempt: number; readonly lostClaim: string | undefined };
  /** The lease of an attempt ended, and its holder has not come back. An operator must resolve the run. */
  'run:interrupted': RunLockEvent & { readonly lostClaim: string | undefined };
  /** The lease is lost, but the handler still runs. This process does not start the job again before it settles. */
  'run:stuck': LockEvent;
  /**
   * No instance has answered a tick of a registered job within `lateAfter`. Each instance that has registered the job
   * reports this once per scheduled time. `name` is its lock.
   */
  'job:late': LockEvent & { readonly scheduledAt: Date; readonly job: string };
  /**
   * Emitted exactly once when a call of a job has ended: a tick, a manual call, or a tick that node-cron dropped.
   * An overdue run that the guard starts itself has no tick.
   */
  tick: TickEvent;
  /**
   * Emitted once, when the jobs that an application schedules at its start are known: those of one turn of the event loop,
   * and in Nest all. `message` names the process, the number of the jobs and the next ones.
   */
  'guard:started': {
    readonly message: string;
    /** The kind and the name of the database, such as `PostgreSQL (app)`. `undefined` for a guard of another store. */
    readonly database: string | undefined;
    /** The next one first. `nextScheduledAt` is `undefined` if only the scheduler knows it. */
    readonly jobs: readonly { readonly job: string; readonly nextScheduledAt: Date | undefined }[];
  };
  /** The store of the locks answers again. A warning has reported that it did not. */
  'guard:outage': {
    readonly message: string;
    /** Since the first failure. */
    readonly lastedMs: number;
    /** By job, how many ticks did not run here. */
    readonly lostTicks: Readonly<Record<string, number>>;
  };
  /** `close` was called, or a signal. `jobs` are those that are running. */
  'guard:closing': { readonly message: string; readonly timeoutMs: number; readonly jobs: readonly string[] };
  /** The guard has closed. `jobs` are those that `guard:closing` named, and `stopped` those that their signals asked to stop. */
  'guard:closed': {
    readonly message: string;
    readonly durationMs: number;
    readonly jobs: readonly string[];
    readonly stopped: readonly string[];
    /** Still running, or their locks could not be released. */
    readonly abandoned: readonly string[];
  };
  'guard:warning': { readonly message: string; readonly error?: unknown };
}

export type ObservedRun = CronlatchEvents['run:started'] & { readonly businessDate?: string | undefined };

/** Called around the handler of a run and the events of the run. Calls `work` once and settles as `work` does. */
export type RunWrapper = <T>(run: ObservedRun, work: () => Promise<T>) => Promise<T>;

export type EventName = keyof CronlatchEvents;
export type EventListener<K extends EventName> = (event: CronlatchEvents[K]) => unknown;
