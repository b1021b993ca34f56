import { channel, type Channel } from 'node:diagnostics_channel';
import { describeValue } from '../options';
import type { LockObserver } from '../lock';
import { jobOf, type LockConfiguration } from '../lock-configuration';
import type {
  CronlatchEvents,
  EventListener,
  EventName,
  LockEvent,
  RunIdentity,
  RunSkipReason,
  TickEvent,
} from './events';
import type { SkipReason, TaskResult } from './task-result';

interface Subscription {
  readonly listener: EventListener<never>;
  readonly isOnce: boolean;
}

const channels = new Map<EventName, Channel>();

function channelOf(name: EventName): Channel {
  const cached = channels.get(name) ?? channel(`cronlatch:${name}`);
  channels.set(name, cached);
  return cached;
}

/** Delivers events. A listener that throws or rejects has no effect on the job: its error becomes a `guard:warning`. */
export class EventHub {
  readonly #listeners = new Map<EventName, Set<Subscription>>();

  /** @returns a function that removes the listener */
  on<K extends EventName>(name: K, listener: EventListener<K>): () => void {
    return this.#add(name, { listener, isOnce: false });
  }

  /** @returns a function that removes the listener */
  once<K extends EventName>(name: K, listener: EventListener<K>): () => void {
    return this.#add(name, { listener, isOnce: true });
  }

  /** Removes a listener that was added with `on` or `once`. If it was added more than once, the latest is removed. */
  off<K extends EventName>(name: K, listener: EventListener<K>): void {
    const subscriptions = this.#listeners.get(name) ?? new Set();
    const latest = [...subscriptions].findLast((each) => each.listener === listener);
    if (latest !== undefined) subscriptions.delete(latest);
  }

  emit<K extends EventName>(name: K, event: CronlatchEvents[K]): void {
    const subscriptions = this.#listeners.get(name);
    if (subscriptions !== undefined)
      for (const subscription of [...subscriptions]) {
        // Removed first, so that an event that the listener causes does not call it again.
        if (subscription.isOnce && !subscriptions.delete(subscription)) continue;
        this.#deliver(name, subscription.listener as EventListener<K>, event);
      }
    const published = channelOf(name);
    if (published.hasSubscribers) published.publish(event);
  }

  warn(message: string, error?: unknown): void {
    this.emit('guard:warning', error === undefined ? { message } : { message, error });
  }

  #add(name: EventName, subscription: Subscription): () => void {
    const subscriptions = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, subscriptions.add(subscription));
    return () => void subscriptions.delete(subscription);
  }

  #deliver<K extends EventName>(name: K, listener: EventListener<K>, event: CronlatchEvents[K]): void {
    const failed = (error: unknown): void => {
      const message = `A listener of '${name}' failed.`;
      // A warning cannot report a failing listener of warnings.
      if (name === 'guard:warning')
        process.emitWarning(message, { code: 'CRONLATCH', detail: describeValue(error) });
      else this.warn(message, error);
    };
    try {
      const result = listener(event);
      if (isThenable(result)) Promise.resolve(result).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

export type Skipped = Extract<TaskResult<never>, { executed: false }>;
export type CallEnd = Pick<TickEvent, 'outcome' | 'reason' | 'error'>;

type Holder = Pick<CronlatchEvents['lock:skipped'], 'heldBy' | 'heldUntil'>;

/**
 * What one call of a job reports: why its handler was not called, and how the call ended. No other code emits `tick`,
 * `lock:skipped`, `lock:failed` and `run:skipped`.
 */
export class CallReport {
  /** Set as soon as it is known, as the next two are. */
  run: RunIdentity | undefined;
  /** Why the run does not count although its handler was called. */
  reason: RunSkipReason | undefined;
  /** The duration of the handler. */
  durationMs: number | undefined;
  /** Whether the guard retries the call if it fails now. */
  willRetry = false;
  /** No tick has started the run. */
  isMadeUp = false;
  /** A call that is skipped because of its lock is not retried. */
  isAnsweredBySkip = false;
  /** What happens after the run if its handler fails. */
  failure: Pick<CronlatchEvents['run:failed'], 'retryAt' | 'isFinal'> = {};
  end: CallEnd | undefined;

  constructor(
    private readonly events: EventHub,
    /** The lock of the job, until a function has named another one. */
    public lock: LockConfiguration,
    public scheduledAt?: Date,
  ) {}

  /** Frequent events spread it last: behind their own fields, Node copies it up to ten times quicker. */
  get event(): LockEvent {
    const { lock, scheduledAt } = this;
    const { name } = lock;
    const job = jobOf(lock);
    if (this.isMadeUp) return { name, job, scheduledAt, madeUp: true };
    return job === undefined ? { name, scheduledAt } : { name, job, scheduledAt };
  }

  skip(reason: SkipReason, { heldBy, heldUntil }: Partial<Holder> = {}): Skipped {
    const willRetry = this.willRetry && !this.isAnsweredBySkip;
    this.events.emit('lock:skipped', { willRetry, reason, heldBy, heldUntil, ...this.event });
    return { executed: false, reason };
  }

  /** @param details.durationMs set if the handler was called */
  skipRun<R extends RunSkipReason>(
    run: RunIdentity | undefined,
    reason: R,
    details: { readonly durationMs?: number } = {},
  ): { readonly executed: false; readonly reason: R } {
    this.events.emit('run:skipped', { ...this.event, run, reason, ...details });
    return { executed: false, reason };
  }

  fail(error: unknown): void {
    this.events.emit('lock:failed', { ...this.event, willRetry: this.willRetry, error });
  }

  /** Calls what an option can make fail. */
  check<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Reports the end of a call that `call` carries out. */
  async during<T>(call: () => Promise<TaskResult<T>>): Promise<TaskResult<T>> {
    let end: CallEnd = { outcome: 'completed' };
    try {
      const result = await call();
      if (!result.executed) end = { outcome: 'skipped', reason: result.reason };
      else if (this.reason !== undefined) end = { outcome: 'skipped', reason: this.reason };
      return result;
    } catch (error) {
      const { reason, durationMs } = this;
      if (reason !== undefined) end = { outcome: 'skipped', reason };
      else end = { outcome: durationMs === undefined ? 'lock-failed' : 'failed', error };
      throw error;
    } finally {
      this.endWith(end);
    }
  }

  endWith(end: CallEnd): void {
    const { run, durationMs } = this;
    this.end = end;
    const known = { ...(run && { run }), ...(durationMs !== undefined && { durationMs }) };
    this.events.emit('tick', { ...this.event, ...known, ...end });
  }
}

/**
 * An observer that emits the events that only the lock provider can detect. It keeps the holder of the lock that the
 * provider has refused.
 */
export function observerOf(
  run: { readonly abandonedSignal: AbortSignal },
  events: EventHub,
  event: LockEvent,
  options: Pick<LockObserver, 'instance' | 'tickLateByMs'> & { readonly onContradiction: () => void },
): LockObserver & { holder?: { readonly heldBy: string; readonly heldUntil: Date } } {
  const observer: ReturnType<typeof observerOf> = {
    instance: options.instance,
    tickLateByMs: options.tickLateByMs,
    abandonedSignal: () => run.abandonedSignal,
    refused: (holder) => void (observer.holder = holder),
    extended: (lockAtMostForMs) => events.emit('lock:extended', { ...event, lockAtMostForMs }),
    lost: (error) => events.emit('lock:lost', { ...event, error }),
    warning: (message, error) => events.warn(message, error),
    contradicted({ message }) {
      events.warn(message);
      options.onContradiction();
    },
  };
  return observer;
}

/** Whether a value settles like a promise, of any library or realm. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
}
