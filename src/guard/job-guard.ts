import {
  EventHub,
  LockingTaskExecutor,
  systemClock,
  type Clock,
  type Duration,
  type EventListener,
  type EventName,
  type LockConfiguration,
  type LockedTask,
  type LockProvider,
  type TaskConfiguration,
  type TaskResult,
} from '../core';
import { parsePositiveDuration } from '../core/duration';
import { checkLockConfiguration } from '../core/lock-configuration';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../core/lock-name';
import { checkCloseOptions, closeRuns, type CloseHook, type CloseOptions, type CloseResult } from './close';
import { closeOnSignals } from './close-on-signals';
import { logEvents, type Logger } from './logger';

export interface JobGuardOptions {
  readonly lockProvider: LockProvider;
  /** For jobs that do not say it themselves. None: then each must. */
  readonly defaultLockAtMostFor?: Duration | undefined;
  /** The most characters of a lock's name. Default 64, at most 255: as wide as the column of the lock table. */
  readonly nameLength?: number | undefined;
  /** Where failures and warnings are reported, a line each. Default `console`; `false` silences. */
  readonly logger?: Logger | false | undefined;
  readonly clock?: Clock | undefined;
  /** For a provider that reports to the same listeners. */
  readonly events?: EventHub | undefined;
}

export interface WrapOptions {
  /**
   * What a failure of the store or of the task becomes. `'report'` (default): an event and a log line, and the call
   * resolves to `undefined`; some schedulers end the process when a handler rejects. `'throw'`: the call rejects as well.
   */
  readonly onError?: 'report' | 'throw' | undefined;
}

/** Runs jobs under locks. */
export class JobGuard {
  readonly #executor: LockingTaskExecutor;
  readonly #events: EventHub;
  readonly #clock: Clock;
  readonly #nameLength: number;
  readonly #defaultLockAtMostFor: Duration | undefined;
  readonly #closeHooks: CloseHook[] = [];
  #closing: Promise<CloseResult> | undefined;

  constructor(options: JobGuardOptions) {
    const {
      lockProvider,
      logger = console,
      clock = systemClock,
      events = new EventHub(),
      nameLength,
      defaultLockAtMostFor,
    } = options;
    if (defaultLockAtMostFor !== undefined)
      parsePositiveDuration(defaultLockAtMostFor, 'defaultLockAtMostFor');
    this.#executor = new LockingTaskExecutor(lockProvider, { clock, events });
    this.#events = events;
    this.#clock = clock;
    this.#nameLength = checkNameLength(nameLength ?? DEFAULT_NAME_LENGTH);
    this.#defaultLockAtMostFor = defaultLockAtMostFor;
    if (logger !== false) logEvents(events, logger);
  }

  /**
   * Runs the task if the lock can be had at once.
   *
   * @throws LockStorageError if it is not known that the lock was obtained: the task did not run
   * @throws InvalidLockConfigurationError for a configuration that cannot be meant
   * @throws whatever the task throws, unchanged
   */
  async run<T>(configuration: TaskConfiguration, task: LockedTask<T>): Promise<TaskResult<T>> {
    this.check(configuration);
    return await this.#executor.executeWithLock(task, this.#withDefaults(configuration));
  }

  /**
   * Makes a guarded function of `task`, for any scheduler: it resolves to the task's value, or to `undefined` when it
   * was skipped.
   *
   * @throws InvalidLockConfigurationError at once, not at the first tick
   */
  wrap<A extends unknown[], T>(
    configuration: LockConfiguration,
    task: (...args: A) => T | PromiseLike<T>,
    { onError = 'report' }: WrapOptions = {},
  ): (...args: A) => Promise<T | undefined> {
    const checked = { ...configuration };
    this.check(checked);
    return async (...args) => {
      try {
        const result = await this.run(checked, () => task(...args));
        return result.executed ? result.value : undefined;
      } catch (error) {
        if (onError === 'throw') throw error;
        return undefined; // It was reported, as lock:failed or run:failed.
      }
    };
  }

  /**
   * What `run` would refuse, before anything runs.
   *
   * @throws InvalidLockConfigurationError naming the lock and the value
   */
  check(configuration: LockConfiguration): void {
    checkLockConfiguration(this.#withDefaults(configuration), this.#nameLength);
  }

  /** @returns a function that removes the listener */
  on<K extends EventName>(name: K, listener: EventListener<K>): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Stops what was scheduled, starts nothing more, and waits for the running jobs; their signals abort shortly before
   * the time-out. Resolves after the last statement, so that `process.exit()` behind it loses nothing. Calling it
   * again gives the same answer.
   */
  async close(options: CloseOptions = {}): Promise<CloseResult> {
    const limits = checkCloseOptions(options);
    this.#closing ??= closeRuns({
      runs: this.#executor.runs,
      clock: this.#clock,
      hooks: this.#closeHooks,
      warn: this.#warn,
      ...limits,
    });
    return await this.#closing;
  }

  /**
   * Closes on SIGTERM and SIGINT, and lets the signal through afterwards unless the application listens to it, too.
   * A second signal goes through at once.
   *
   * @returns a function that stops listening
   */
  closeOnSignals(options: CloseOptions = {}): () => void {
    checkCloseOptions(options);
    return closeOnSignals(() => this.close(options), this.#warn);
  }

  /** Whether closing has begun: nothing starts any more. */
  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  /** For integrations: what to stop or close along with the guard. */
  onClose(hook: CloseHook): void {
    this.#closeHooks.push(hook);
  }

  readonly #warn = (message: string, error: unknown): void =>
    this.#events.emit('guard:warning', { message, error });

  #withDefaults(configuration: TaskConfiguration): TaskConfiguration {
    return { ...configuration, lockAtMostFor: configuration.lockAtMostFor ?? this.#defaultLockAtMostFor };
  }
}
