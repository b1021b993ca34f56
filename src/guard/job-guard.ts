import {
  EventHub,
  LockingTaskExecutor,
  systemClock,
  type Duration,
  type EventListener,
  type EventName,
  InvalidLockConfigurationError,
  type LockedTask,
  type LockProvider,
  type TaskResult,
} from '../core';
import { parsePositiveDuration } from '../core/duration';
import { RunLedger, type BackfillRange, type BackfillResult } from '../ledger';
import { backfill } from '../ledger/operator/backfill';
import { notRegistered } from '../ledger/operator/run-ledger';
import type { CloseHook, CloseOptions, CloseResult } from './close';
import { Closing } from './closing';
import { DueRuns, type DueResult } from './due-runs';
import type { GuardConfiguration, JobConfiguration } from './job-configuration';
import { JobDefaults } from './job-defaults';
import type { JobGuardOptions, WrapOptions } from './job-guard-options';
import { logEvents } from './logger';
import { OncePerJobs, type GuardedCall } from './once-per-jobs';
import type { DroppedJob, JobRegistration } from './registered-jobs';
import { slotRunsOf, type SlotRuns } from './slots';
import { wrappedTask } from './wrapped-task';

/** Runs jobs under locks. */
export class JobGuard {
  readonly #lockProvider: LockProvider;
  readonly #executor: LockingTaskExecutor;
  readonly #events: EventHub;
  readonly #defaults: JobDefaults;
  readonly #closing: Closing;
  readonly #oncePer: OncePerJobs | undefined;
  readonly #due: DueRuns | undefined;
  #slots: SlotRuns | undefined;

  constructor(options: JobGuardOptions) {
    const { lockProvider, logger = console, clock = systemClock, events = new EventHub() } = options;
    const { runStore, dueEvery = '1m', statementTimeout = '5s' } = options;
    this.#defaults = new JobDefaults(options);
    this.#lockProvider = lockProvider;
    this.#executor = new LockingTaskExecutor(lockProvider, { clock, events });
    this.#events = events;
    this.#closing = new Closing(this.#executor.runs, clock, (message, error) =>
      events.emit('guard:warning', { message, error }),
    );
    const dueEveryMs = dueEvery === false ? undefined : parsePositiveDuration(dueEvery, 'dueEvery');
    const statementTimeoutMs = parsePositiveDuration(statementTimeout, 'statementTimeout');
    if (runStore !== undefined) {
      const context = { store: runStore, clock, events, random: Math.random, statementTimeoutMs };
      this.#oncePer = new OncePerJobs(context, this.#executor, lockProvider);
      this.#due = new DueRuns(this.#oncePer, dueEveryMs);
    }
    if (logger !== false) logEvents(events, logger);
  }

  /**
   * Runs the task if the lock can be had at once; with `oncePer`, if it has not been done in its period. Such a call is
   * not registered: when it is not answered, or the run fails, its caller brings it back by calling again. Unless `at`
   * names the period, other runs of the job that are due are brought back by the same task: `currentRun()` tells it
   * which one it is.
   *
   * @throws LockStorageError if it is not known that the lock was obtained: the task did not run
   * @throws ClaimLostError when the run turns out not to count, because somebody else has taken it over
   * @throws InvalidLockConfigurationError for a configuration that cannot be meant
   * @throws whatever the task throws, unchanged
   */
  async run<T>(configuration: JobConfiguration, task: LockedTask<T>): Promise<TaskResult<T>> {
    return await this.execute(configuration, { task, args: [], call: () => task });
  }

  /**
   * For integrations: `run` for a handler that has arguments.
   *
   * @throws as `run` does
   */
  async execute<T>(configuration: JobConfiguration, call: GuardedCall<T>): Promise<TaskResult<T>> {
    const complete = this.#checked(configuration);
    const { oncePer } = complete;
    if (oncePer === undefined) return await this.#executor.executeWithLock(call.task, complete);
    return await this.#ledger(configuration).run({ ...complete, oncePer }, call);
  }

  /**
   * For integrations: makes once-per jobs known, all or none, so that they are brought back without a tick. Others are
   * left alone.
   *
   * @throws InvalidLockConfigurationError for a configuration that cannot be meant, and a name that another job has
   */
  register(jobs: readonly JobRegistration[]): void {
    const complete = jobs.map((job) => ({
      ...job,
      configuration: this.#defaults.complete(job.configuration),
    }));
    const oncePer = complete.filter(({ configuration }) => configuration.oncePer !== undefined);
    const [first] = oncePer;
    if (first === undefined) return;
    this.#ledger(first.configuration).registered.add(oncePer);
    this.#due?.start();
  }

  /**
   * Brings back what is owed of the registered once-per jobs: runs that are due, runs whose holder vanished, ticks that
   * were not answered, and, of jobs that catch up, periods that were missed. A timer calls it once a minute.
   *
   * @returns when all that it started has ended
   * @throws LockStorageError when it cannot be looked up what is due. What goes wrong with a run is told by events.
   */
  async runDue(): Promise<DueResult> {
    return (await this.#due?.run()) ?? { started: 0, owed: 0 };
  }

  /**
   * Makes pending runs of the business days in a range of the past that have none; `runDue` and the job's ticks run
   * them.
   *
   * @throws InvalidLockUseError for a job that is not registered, and a range that reaches back to where nothing is known
   */
  async backfill(job: string, range: BackfillRange): Promise<BackfillResult> {
    const { context, registered } = this.#ledger({ name: job });
    const known = registered.get(job);
    if (known !== undefined) return await backfill(context, known.policy, range);
    throw notRegistered(job);
  }

  /**
   * What is known of runs, and what a person may change of them.
   *
   * @throws InvalidLockConfigurationError when the guard has no run store
   */
  get ledger(): RunLedger {
    const { context, registered } = this.#ledger({ name: 'guard.ledger' });
    return new RunLedger({
      context,
      policyOf: (job) => registered.get(job)?.policy,
      longestWindowMs: () => Math.max(0, ...registered.all.map(({ policy }) => policy.catchUp.windowMs)),
    });
  }

  /**
   * Makes a guarded function of `task`, for any scheduler: it resolves to the task's value, or to `undefined` when it
   * was skipped. With `oncePer` the job is registered: what is owed of it is brought back, without arguments or with
   * those of `resume`.
   *
   * @throws InvalidLockConfigurationError at once, not at the first tick
   */
  wrap<A extends unknown[], T>(
    configuration: GuardConfiguration,
    task: (...args: NoInfer<A>) => T | PromiseLike<T>,
    options: WrapOptions<A> & { readonly scheduledAt: unknown },
  ): (...args: A) => Promise<T | undefined>;
  wrap<A extends unknown[], T>(
    configuration: GuardConfiguration,
    task: (...args: A) => T | PromiseLike<T>,
    options?: WrapOptions<A>,
  ): (...args: A) => Promise<T | undefined>;
  wrap<A extends unknown[], T>(
    configuration: GuardConfiguration,
    task: (...args: A) => T | PromiseLike<T>,
    options: WrapOptions<A> = {},
  ): (...args: A) => Promise<T | undefined> {
    return wrappedTask(this, this.#events, { ...configuration }, task, options);
  }

  /**
   * What `run` would refuse, before anything runs.
   *
   * @throws InvalidLockConfigurationError naming the lock and the value
   */
  check(configuration: GuardConfiguration): void {
    this.#checked(configuration);
  }

  /**
   * For integrations: reports the ticks that a scheduler has dropped in one stall. `runDue` retries those of registered
   * once-per jobs.
   */
  dropTicks({ configuration, call }: DroppedJob, ticks: readonly Date[], error: Error): void {
    if (this.isClosing) return;
    const { name, oncePer } = configuration;
    const lock = this.#defaults.complete(configuration);
    const isKept = ticks.map(
      (scheduledAt) => oncePer && this.#oncePer?.keepDropped({ ...lock, oncePer, scheduledAt }, call),
    );
    const [scheduledAt] = ticks;
    this.#events.emit('lock:failed', { name, scheduledAt, isAskedAgain: isKept.includes(true), error });
  }

  /** @returns a function that removes the listener */
  on<K extends EventName>(name: K, listener: EventListener<K>): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * For health checks: asks the store of the locks for something small. A lock provider that has no such question counts
   * as reachable.
   *
   * @throws LockStorageError when the store fails, or does not answer in this time
   */
  async probe(timeout: Duration = '1s'): Promise<void> {
    await this.#lockProvider.probe?.(parsePositiveDuration(timeout, 'timeout of probe'));
  }

  /**
   * Stops what was scheduled, starts nothing more, and waits for the running jobs; their signals abort shortly before
   * the time-out. Resolves after the last statement, so that `process.exit()` behind it loses nothing. Calling it
   * again gives the same answer.
   */
  async close(options: CloseOptions = {}): Promise<CloseResult> {
    const closing = this.#closing.close(options);
    if (this.isClosing) this.#due?.stop();
    return await closing;
  }

  /**
   * Closes on SIGTERM and SIGINT, and lets the signal through afterwards unless the application listens to it, too.
   * A second signal goes through at once. A guard that is closed listens no more. As the first process of a container,
   * which no signal ends by itself, it exits, with 143 or 130.
   *
   * @returns a function that stops listening
   */
  closeOnSignals(options: CloseOptions = {}): () => void {
    return this.#closing.onSignals(options, () => this.close(options));
  }

  /** Whether closing has begun: nothing starts any more. */
  get isClosing(): boolean {
    return this.#closing.hasBegun;
  }

  /** For integrations: something that works, but not as it may be meant. */
  warn(message: string): void {
    this.#events.emit('guard:warning', { message });
  }

  /**
   * For integrations with schedulers that elect one instance for each of their ticks.
   *
   * @throws InvalidLockConfigurationError when the guard has no run store
   */
  get slots(): SlotRuns {
    return (this.#slots ??= slotRunsOf(this.#ledger({ name: 'guard.slots' })));
  }

  /** For integrations: what to stop or close along with the guard. */
  onClose(hook: CloseHook): void {
    this.#closing.add(hook);
  }

  #checked<C extends GuardConfiguration>(configuration: C): C {
    const complete = this.#defaults.checked(configuration);
    if (complete.oncePer !== undefined) this.#ledger(configuration);
    return complete;
  }

  #ledger({ name }: GuardConfiguration): OncePerJobs {
    if (this.#oncePer !== undefined) return this.#oncePer;
    throw new InvalidLockConfigurationError(
      `'${name}' needs a ledger, and this guard has none: give it a runStore, or make it by createJobGuard(dataSource).`,
    );
  }
}
