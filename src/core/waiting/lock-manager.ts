import type { RunningLock } from '../execution/events';
import { systemClock, type Clock } from '../clock';
import { parseDuration, type Duration } from '../duration';
import { InvalidLockUseError } from '../errors';
import { checkOptionNames, describeValue } from '../options';
import { CallReport, EventHub, observerOf } from '../execution/event-hub';
import { LockingTaskExecutor } from '../execution/locking-task-executor';
import { ActiveRun, GrantedLock, liveLock } from '../execution/run-registry';
import type { Lock, LockedTask, LockObserver, LockProvider } from '../lock';
import { processState } from '../process-state';
import { checkLockConfiguration, withDefaults, type LockConfiguration } from '../lock-configuration';
import { LONGEST_NAME_LENGTH } from '../lock-name';
import { LockQueues, waitForLock, type WaitContext } from './lock-wait';

export interface LockManagerOptions {
  /** The `lockAtMostFor` of locks that do not set it. Without it, every lock must set it. */
  readonly lockAtMostFor?: Duration | undefined;
  /** The `lockAtLeastFor` of locks that do not set it. Default 0. */
  readonly lockAtLeastFor?: Duration | undefined;
  /** The `keepAlive` of locks that do not set it. Default `false`. */
  readonly keepAlive?: boolean | Duration | undefined;
  readonly clock?: Clock | undefined;
  readonly events?: EventHub | undefined;
  /** For the jitter between two attempts: a number between 0 and 1. */
  readonly random?: (() => number) | undefined;
}

export interface LockOptions {
  /** Stops waiting: the call rejects with the reason of the signal. It has no effect on a granted lock. */
  readonly signal?: AbortSignal | undefined;
}

export interface TryLockOptions extends LockOptions {
  /** How long to wait at most, up to 365 days. */
  readonly wait?: Duration | undefined;
}

/** What `refreshOnce` needs of a manager, also of one of another installed copy of cronlatch. */
const contexts = processState('lock-managers', () => new WeakMap<object, WaitContext>());

/**
 * Waits for locks, outside cron. The waiters of a process queue per name, and the first one asks the store: when the
 * store reports a release, or else with growing delays from 50 ms to 1 s. Processes are not served in their order.
 *
 * Only the handle of a lock can release it, so there is no `unlock(name)`. There are no conditions to wait for.
 */
export class LockManager {
  readonly #provider: LockProvider;
  readonly #defaults: LockManagerOptions;
  readonly #executor: LockingTaskExecutor;
  readonly #context: WaitContext;
  readonly #stop = new AbortController();
  /** The handles that are not released, and the runs that can ask their users to stop. */
  readonly #held = new Map<Lock, ActiveRun>();
  #isClosed = false;

  /** @param executor runs the tasks of `withLock`. Default: one of its own. */
  constructor(provider: LockProvider, options: LockManagerOptions = {}, executor?: LockingTaskExecutor) {
    const { clock = systemClock, events = new EventHub(), random = Math.random, ...defaults } = options;
    this.#provider = provider;
    this.#defaults = defaults;
    this.#executor = executor ?? new LockingTaskExecutor(provider, { clock, events });
    this.#context = { provider, queues: LockQueues.of(provider), clock, events, random };
    contexts.set(this, this.#context);
  }

  /**
   * Waits until the lock is granted, without a limit but the signal.
   *
   * @throws the reason of the signal, or an AbortError when the manager closes
   * @throws LockStorageError if it is not certain that the lock was obtained
   * @throws InvalidLockConfigurationError for an invalid configuration
   * @throws InvalidLockUseError inside a live lease of the same name: it would wait for itself
   */
  async lock(lock: string | LockConfiguration, { signal }: LockOptions = {}): Promise<Lock> {
    // A wait without a limit ends with a lock or an error.
    return (await this.#acquire('lock', lock, { signal }, Infinity)) as Lock;
  }

  /**
   * Tries once, or with `wait` for so long. The call ends at the latest two statement limits after `wait`. With `wait`,
   * a statement limit is at most the rest of `wait`, but not less than a second.
   *
   * @returns `undefined` if the lock was not granted in that time
   * @throws as `lock` does
   */
  async tryLock(lock: string | LockConfiguration, options: TryLockOptions = {}): Promise<Lock | undefined> {
    return await this.#acquire('tryLock', lock, options);
  }

  /**
   * Waits for the lock, runs the task, and releases the lock. Inside a live lease of the same lock provider and name, the
   * task runs in that lease: nothing is sent to the store, and only the outer call releases the lock.
   *
   * @returns the task's value. With `wait`: `undefined` if the lock was not granted in that time, so the task did not run
   * @throws the task's own error, unchanged
   * @throws as `lock` does. The task did not run.
   */
  withLock<T>(lock: string | LockConfiguration, task: LockedTask<T>): Promise<T>;
  withLock<T>(
    lock: string | LockConfiguration,
    options: LockOptions & { readonly wait?: undefined },
    task: LockedTask<T>,
  ): Promise<T>;
  withLock<T>(
    lock: string | LockConfiguration,
    options: TryLockOptions,
    task: LockedTask<T>,
  ): Promise<T | undefined>;
  async withLock<T>(
    lock: string | LockConfiguration,
    ...rest: readonly [LockedTask<T>] | readonly [TryLockOptions, LockedTask<T>]
  ): Promise<T | undefined> {
    const [options, task] = rest.length === 1 ? [{}, rest[0]] : rest;
    const configuration = this.#complete(lock);
    const waitMs = waitMsOf(configuration.name, options) ?? Infinity;
    const signals = this.#signalsOf(options);
    let granted: Lock | undefined;
    const acquire = async (observer: LockObserver): Promise<Lock | undefined> => {
      try {
        granted = await waitForLock(this.#context, { configuration, observer, waitMs, signals });
        return granted;
      } catch (error) {
        if (signals.some(({ aborted }) => aborted)) return undefined; // The caller has stopped, and the lock has not failed.
        throw error;
      }
    };
    try {
      const result = await this.#executor.holding(
        new CallReport(this.#context.events, configuration),
        async (held) => ({ executed: true, value: await task(held.lock) }),
        { acquire },
      );
      if (result.executed) return result.value;
      for (const signal of signals) signal.throwIfAborted();
      return undefined;
    } finally {
      if (granted !== undefined) this.#context.queues.notify(configuration.name);
    }
  }

  /**
   * Whether any process holds the lock. The answer may be out of date when it arrives.
   *
   * @throws InvalidLockUseError if the lock provider cannot show its locks
   * @throws LockStorageError if the store fails
   */
  async isLocked(name: string): Promise<boolean> {
    if (this.#provider.inspect !== undefined) return (await this.#provider.inspect(name))?.isHeld ?? false;
    throw new InvalidLockUseError(
      `Cannot check lock '${name}': its lock provider has no method 'inspect'. Use tryLock instead.`,
    );
  }

  /** Rejects the waiters, and every later request, with an AbortError. Granted locks stay. */
  stop(): void {
    this.#stop.abort(new DOMException('The lock manager is closing: it grants no more locks.', 'AbortError'));
  }

  /**
   * Stops the waiters and releases the locks whose handles are still in use. Their signals abort first. The tasks of
   * `withLock` keep their locks until they have settled.
   */
  async close(): Promise<void> {
    this.stop();
    this.#isClosed = true;
    const releases = [...this.#held].map(([lock, run]) => {
      run.askToStop(this.#stop.signal.reason);
      return lock.unlock();
    });
    await Promise.allSettled(releases); // Events report the failures.
  }

  /** The locks whose handles are in use. Those of `withLock` belong to the executor. */
  held(): readonly RunningLock[] {
    return [...this.#held.values()].flatMap((run) => run.heldLock ?? []);
  }

  async #acquire(
    method: string,
    lock: string | LockConfiguration,
    options: TryLockOptions,
    defaultWaitMs?: number,
  ): Promise<Lock | undefined> {
    const configuration = this.#complete(lock);
    const { name } = configuration;
    const waitMs = waitMsOf(name, options) ?? defaultWaitMs;
    if (liveLock(this.#provider, name) !== undefined)
      throw new InvalidLockUseError(
        `${method} was called for lock '${name}' inside its own lease, so it would wait for itself. Use withLock, which runs nested calls in the outer lease.`,
      );
    const run = new ActiveRun(name);
    const { instance } = this.#executor;
    const event = { name, scheduledAt: undefined };
    const onContradiction = (): void => void (this.#isClosed && run.abandon());
    const observer = observerOf(run, this.#context.events, event, { instance, onContradiction });
    const signals = this.#signalsOf(options);
    const granted = await waitForLock(this.#context, { configuration, observer, waitMs, signals });
    const handle = granted && this.#handleOf(granted, run);
    if (this.#isClosed) await this.close(); // The lock was granted just before.
    return handle;
  }

  #handleOf(lease: Lock, run: ActiveRun): Lock {
    const event = { name: lease.name, scheduledAt: undefined };
    const forget = (): void => void this.#held.delete(handle);
    const onUnlock = (release: Promise<boolean>): void => {
      lease.signal.removeEventListener('abort', forget);
      forget();
      release
        .then((stillOurs) => this.#context.events.emit('lock:released', { ...event, stillOurs }))
        .catch((error: unknown) => this.#context.events.emit('lock:releaseFailed', { ...event, error }))
        .finally(() => this.#context.queues.notify(lease.name));
    };
    const handle = new GrantedLock(lease, this.#provider, run, onUnlock);
    this.#held.set(handle, run);
    lease.signal.addEventListener('abort', forget); // Nothing of a lost lease is left to release.
    this.#context.events.emit('lock:acquired', { ...event, fencingToken: lease.fencingToken });
    return handle;
  }

  #complete(lock: string | LockConfiguration): LockConfiguration {
    const configuration = withDefaults(typeof lock === 'object' ? lock : { name: lock }, this.#defaults);
    // The provider checks the length of the name. The rest is checked before the wait.
    checkLockConfiguration(configuration, LONGEST_NAME_LENGTH);
    return configuration;
  }

  #signalsOf({ signal }: LockOptions): readonly AbortSignal[] {
    return signal === undefined ? [this.#stop.signal] : [signal, this.#stop.signal];
  }
}

function waitMsOf(name: string, options: TryLockOptions): number | undefined {
  checkOptionNames(options, ['signal', 'wait'], `lock '${name}'`);
  const { wait } = options;
  return wait === undefined ? undefined : parseDuration(wait, `wait for lock '${name}'`);
}

/** @throws InvalidLockUseError for anything but a lock manager, such as a guard or its promise */
export function contextOf(manager: LockManager): WaitContext {
  const context = contexts.get(manager);
  if (context !== undefined) return context;
  throw new InvalidLockUseError(
    `refreshOnce expected a lock manager, but got ${describeValue(manager)}. Pass guard.lockManager().`,
  );
}
