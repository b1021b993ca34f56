import { channel, type Channel } from 'node:diagnostics_channel';
import { describeValue } from '../describe-value';
import type { LockLostError } from '../errors';
import { isThenable, type SkipReason } from './task-result';

/** The common part of a lock's events. */
export interface LockEvent {
  readonly name: string;
  /** The scheduled time, if it is known. */
  readonly scheduledAt: Date | undefined;
}

/** The common part of the events of a tick whose job did not run. */
export interface MissedTickEvent extends LockEvent {
  /** The tick is asked again, by `runOverdue`, until its run is answered for. Otherwise it is lost. */
  readonly willRetry: boolean;
}

/** Which run of a job that runs once per period. */
export interface RunIdentity {
  readonly job: string;
  readonly scope: string;
  readonly periodKey: string;
  readonly generation: number;
  /** 0 where none has begun. */
  readonly attempt: number;
}

/** The common part of a run's events. */
export interface RunLockEvent extends LockEvent {
  /** `undefined` for a job that has a lock only. */
  readonly run?: RunIdentity | undefined;
}

/**
 * The events and what they carry. Also published on `node:diagnostics_channel`, as `cronlatch:` + the event's name. Node
 * ends the process if a subscriber of a channel throws, and offers no way to prevent that; a listener of `guard.on` may
 * throw.
 */
export interface CronlatchEvents {
  'lock:acquired': LockEvent & { readonly fencingToken: number | undefined };
  /** The job did not run here. `heldBy` and `heldUntil` are looked up once a minute and name at most. */
  'lock:skipped': MissedTickEvent & {
    readonly reason: SkipReason;
    readonly heldBy: string | undefined;
    readonly heldUntil: Date | undefined;
  };
  /**
   * The job did not run: it is not known that the lock was obtained, or that the run was claimed, or the scheduler has
   * dropped the tick.
   */
  'lock:failed': MissedTickEvent & { readonly error: unknown };
  'lock:extended': LockEvent & { readonly lockAtMostForMs: number };
  'lock:lost': LockEvent & { readonly error: LockLostError };
  /** `stillOurs` is false when the lease had ended before the release. */
  'lock:released': LockEvent & { readonly stillOurs: boolean };
  /** The job is done, but its lock blocks the next run until it ends by itself. */
  'lock:releaseFailed': LockEvent & { readonly error: unknown };
  'run:started': RunLockEvent & { readonly fencingToken: number | undefined };
  'run:completed': RunLockEvent & { readonly durationMs: number };
  /** `retryAt` is set where the ledger has it tried again, `isFinal` where only an operator does. */
  'run:failed': RunLockEvent & {
    readonly error: unknown;
    readonly durationMs: number;
    readonly retryAt?: Date | undefined;
    readonly isFinal?: boolean | undefined;
  };
  /** Nothing ran, for a reason that the ledger knows; or the job gave its attempt back, or skipped its period. */
  'run:skipped': RunLockEvent & { readonly reason: SkipReason | 'given-back' };
  /** The holder of an attempt vanished, and its work is repeated by the attempt that `run` names. */
  'run:takenOver': RunLockEvent & { readonly lostAttempt: number; readonly lostClaim: string | undefined };
  /** The holder of an attempt vanished, and a person must say what became of it. */
  'run:interrupted': RunLockEvent & { readonly lostClaim: string | undefined };
  /** The lease is lost and the handler still runs: until it settles, this process does not start the job again. */
  'run:stuck': LockEvent;
  'guard:warning': { readonly message: string; readonly error?: unknown };
}

export type EventName = keyof CronlatchEvents;
export type EventListener<K extends EventName> = (event: CronlatchEvents[K]) => unknown;

const channels = new Map<EventName, Channel>();

function channelOf(name: EventName): Channel {
  const cached = channels.get(name) ?? channel(`cronlatch:${name}`);
  channels.set(name, cached);
  return cached;
}

/** Delivers events. A listener that throws or rejects changes nothing: it becomes a `guard:warning`. */
export class EventHub {
  readonly #listeners = new Map<EventName, Set<EventListener<never>>>();

  /** @returns a function that removes the listener */
  on<K extends EventName>(name: K, listener: EventListener<K>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  emit<K extends EventName>(name: K, event: CronlatchEvents[K]): void {
    const listeners = this.#listeners.get(name);
    if (listeners !== undefined) {
      for (const listener of [...listeners]) this.#deliver(name, listener as EventListener<K>, event);
    }
    const published = channelOf(name);
    if (published.hasSubscribers) published.publish(event);
  }

  #deliver<K extends EventName>(name: K, listener: EventListener<K>, event: CronlatchEvents[K]): void {
    const failed = (error: unknown): void => {
      const message = `A listener of '${name}' failed.`;
      // A failing listener of warnings cannot be told through warnings.
      if (name === 'guard:warning')
        process.emitWarning(message, { code: 'CRONLATCH', detail: describeValue(error) });
      else this.emit('guard:warning', { message, error });
    };
    try {
      const result = listener(event);
      if (isThenable(result)) Promise.resolve(result).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}
