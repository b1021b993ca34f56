import {
  EventHub,
  LockingTaskExecutor,
  systemClock,
  type Duration,
  type EventListener,
  type EventName,
  type LockedTask,
  type LockProvider,
  type TaskResult,
} from '../core';
import { parsePositiveDuration } from '../core/duration';
import { processState } from '../core/process-state';
import { RunLedger, type BackfillRange, type BackfillResult } from '../ledger';
import { backfill } from '../ledger/operator/backfill';
import { notRegistered } from '../ledger/operator/run-ledger';
import { Closing, type CloseHook, type CloseOptions, type CloseResult } from './closing/closing';
import { GuardIntegration } from './integration';
import type { GuardConfiguration, JobConfiguration, JobGuardOptions, WrapOptions } from './job-guard-options';
import { JobRegistry } from './job-registry';
import { logEvents } from './logger';
import { OncePerJobs } from './once-per-jobs';
import { checkGuardOptions } from './option-names';
import { OverdueRuns, type OverdueResult } from './overdue-runs';
import { wrappedTask } from './wrapped-task';

/** The integration of each guard, including guards of another installed copy of cronlatch. */
const integrations = processState('integrations', () => new WeakMap<object, GuardIntegration>());

/** Runs jobs under locks. */
export class JobGuard {
  readonly #lockProvider: LockProvider;
  readonly #events: EventHub;
  readonly #jobs: JobRegistry;
  readonly #overdue: OverdueRuns | undefined;
  readonly #closing: Closing;
  readonly #integration: GuardIntegration;

  constructor(options: JobGuardOptions) {
    checkGuardOptions(options);
    const { lockProvider, logger = console, clock = systemClock, events = new EventHub() } = options;
    const { runStore, pollInterval = '1m', statementTimeout = '5s' } = options;
    const warn = (message: string, error?: unknown): void =>
      events.emit('guard:warning', error === undefined ? { message } : { message, error });
    const registry = new JobRegistry(options, warn);
    const executor = new LockingTaskExecutor(lockProvider, { clock, events });
    const everyMs = pollInterval === false ? undefined : parsePositiveDuration(pollInterval, 'pollInterval');
    const statementTimeoutMs = parsePositiveDuration(statementTimeout, 'statementTimeout');
    const context = runStore && { store: runStore, clock, events, random: Math.random, statementTimeoutMs };
    const oncePer = context && new OncePerJobs(context, executor, lockProvider, registry);
    const overdue = oncePer && new OverdueRuns(oncePer, everyMs);
    this.#lockProvider = lockProvider;
    this.#events = events;
    this.#jobs = registry;
    this.#overdue = overdue;
    this.#closing = new Closing(executor.runs, clock, warn);
    this.#integration = new GuardIntegration({ registry, executor, events, oncePer, overdue });
    integrations.set(this, this.#integration);
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
    const { at, scheduledAt, ...declared } = configuration;
    const call = { task, args: [], call: () => task, at, scheduledAt };
    return await this.#integration.execute(this.#jobs.compile(declared), call);
  }

  /**
   * Brings back what is overdue of the registered once-per jobs: runs that are due, runs whose holder vanished, ticks that
   * were not answered, and, of jobs that catch up, periods that were missed. A timer calls it once a minute.
   *
   * @returns when all that it started has ended
   * @throws LockStorageError when it cannot be looked up what is due. What goes wrong with a run is told by events.
   */
  async runOverdue(): Promise<OverdueResult> {
    return (await this.#overdue?.run()) ?? { started: 0, overdue: 0 };
  }

  /**
   * Makes pending runs of the business days in a range of the past that have none; `runOverdue` and the job's ticks run
   * them.
   *
   * @throws InvalidLockUseError for a job that is not registered, and a range that reaches back to where nothing is known
   */
  async backfill(job: string, range: BackfillRange): Promise<BackfillResult> {
    const { context } = this.#integration.oncePer(job);
    const known = this.#jobs.get(job);
    if (known !== undefined) return await backfill(context, known.policy, range);
    throw notRegistered(job);
  }

  /**
   * What is known of runs, and what a person may change of them.
   *
   * @throws InvalidLockConfigurationError when the guard has no run store
   */
  get ledger(): RunLedger {
    const { context } = this.#integration.oncePer('guard.ledger');
    return new RunLedger({
      context,
      policyOf: (job) => this.#jobs.get(job)?.policy,
      longestWindowMs: () => Math.max(0, ...this.#jobs.all.map(({ policy }) => policy.catchUp.windowMs)),
    });
  }

  /**
   * Makes a guarded function of `task`, for any scheduler: it resolves to the task's value, or to `undefined` when it
   * was skipped. With `oncePer` the job is registered: what is overdue of it is brought back, without arguments or with
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
    return wrappedTask({
      ...options,
      ...{ integration: this.#integration, events: this.#events },
      ...{ configuration: { ...configuration }, task },
    });
  }

  /**
   * What `run` would refuse, before anything runs.
   *
   * @throws InvalidLockConfigurationError naming the lock and the value
   */
  check(configuration: GuardConfiguration): void {
    this.#jobs.compile(configuration);
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
    if (this.isClosing) this.#overdue?.stop();
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

  /** What to stop or close along with the guard, for example a scheduler of your own. */
  onClose(hook: CloseHook): void {
    this.#closing.add(hook);
  }
}

export function isJobGuard(value: unknown): value is JobGuard {
  return typeof value === 'object' && value !== null && integrations.has(value);
}

export function integrationOf(guard: JobGuard): GuardIntegration {
  const integration = integrations.get(guard);
  if (integration === undefined) throw new TypeError('This is not a job guard.');
  return integration;
}
