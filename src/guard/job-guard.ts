import type { RunningLock } from '../core';
import {
  EventHub,
  InvalidLockUseError,
  LockingTaskExecutor,
  systemClock,
  type Duration,
  type EventListener,
  type EventName,
  type LockedTask,
  LockManager,
  type TaskResult,
} from '../core';
import { parsePositiveDuration, parseStatementTimeout } from '../core/duration';
import { refuseGone } from '../core/options';
import { RunLedger, type RunStore } from '../ledger';
import { RunLogs } from '../ledger/tick/run-log';
import { Closing, type CloseHook, type CloseOptions, type CloseResult } from './closing/closing';
import { GuardLocks } from './guard-locks';
import { Calls } from './calls/calls';
import type {
  GuardConfiguration,
  JobConfiguration,
  JobGuardOptions,
  JobOptions,
  LockByArguments,
  WrapOptions,
} from './jobs/job-guard-options';
import { JobRegistry, needsLedger } from './jobs/job-registry';
import { labelled } from './jobs/lock-functions';
import { consoleLogger, logEvents } from './log/logger';
import { Outages } from './log/outages';
import { OncePerJobRunner } from './calls/once-per-job-runner';
import { OverdueRuns } from './upkeep/overdue-runs';
import { purgeService } from './upkeep/purge';
import { Register } from './upkeep/register';
import { RunRequests } from './upkeep/run-requests';
import { checkGuardOptions, parseSwitch } from './jobs/check-options';
import { Upkeep, type OverdueResult, type Service } from './upkeep/upkeep';

/** Makes the service that sends the notices of a guard. What it reads is beyond the guard. */
type NoticesOf = (calls: Calls, locks: GuardLocks, options: JobGuardOptions, lateAfterMs: number) => Service;

/** Where the guards with these options keep their runs, and what sends their notices. */
const ledgers = new WeakMap<JobGuardOptions, readonly [RunStore, NoticesOf]>();

/** A guard with a ledger. Only cronlatch itself has stores of runs. */
export function guardWithRuns(options: JobGuardOptions, runStore: RunStore, noticesOf: NoticesOf): JobGuard {
  const own = { ...options };
  ledgers.set(own, [runStore, noticesOf]);
  return new JobGuard(own);
}

/** Runs jobs under locks. */
export class JobGuard {
  /** Shows the locks of the guard's lock provider. */
  readonly locks: GuardLocks;
  readonly #upkeep: Upkeep;
  readonly #closing: Closing;
  readonly #calls: Calls;
  readonly #lockManager: LockManager;

  /**
   * A guard for locks alone. `createJobGuard` of a driver, or of `cronlatch/memory`, creates one that also keeps runs.
   *
   * @throws InvalidLockConfigurationError naming the option
   */
  constructor(options: JobGuardOptions) {
    checkGuardOptions(options);
    const { lockProvider, logger = consoleLogger, clock = systemClock, events = new EventHub() } = options;
    const { pollInterval = '1m', statementTimeout = '5s', instanceName } = options;
    const [store, noticesOf] = ledgers.get(options) ?? [];
    const shared = { lockProvider, clock, events };
    const lockStore = (): string => this.#calls.lockStore ?? 'The store of the locks';
    // Before the other listeners, so that the log knows of an outage when it gets the first failure.
    const outages = new Outages({ ...shared, store: lockStore });
    const registry = new JobRegistry(options, events, store !== undefined);
    const executor = new LockingTaskExecutor(lockProvider, { clock, events, instanceName });
    const { instance } = executor;
    const pollIntervalMs =
      pollInterval === false ? undefined : parsePositiveDuration(pollInterval, 'pollInterval');
    const statementTimeoutMs = parseStatementTimeout(statementTimeout);
    const runs = store && { ...shared, store, random: Math.random, statementTimeoutMs, instance };
    const logs = runs && new RunLogs(runs, options);
    const context = runs && { ...runs, logs };
    const oncePerRunner = context && new OncePerJobRunner(context, executor, registry);
    const registered = context && new Register(context, options, pollIntervalMs);
    this.locks = new GuardLocks(lockProvider);
    for (const option of ['notify', 'retention'] as const)
      if (context === undefined && options[option] !== undefined) throw needsLedger(`${option} needs`);
    const startUpkeep = (): void => this.#upkeep.start();
    const parts = { ...shared, registry, executor, oncePerRunner, registered, startUpkeep };
    const calls = (this.#calls = new Calls(this, parts));
    this.enable(options.enabled ?? true);
    const services = registered ? servicesOf(calls, registered, options) : [];
    if (options.notify !== undefined && registered && noticesOf)
      services.push(noticesOf(calls, this.locks, options, registered.lateAfterMs));
    const upkeep = (this.#upkeep = new Upkeep(services, { clock, events, pollIntervalMs }));
    this.#closing = new Closing(executor.runs, clock, events);
    const lockManager = new LockManager(lockProvider, { ...registry.defaults, clock, events }, executor);
    this.#lockManager = lockManager;
    // Running jobs keep the locks that they have taken by hand until they have ended.
    this.#closing.add({
      stop: () => Promise.resolve(lockManager.stop()),
      release: () => lockManager.close(),
    });
    this.#closing.add({ stop: () => Promise.resolve(outages.stop()) });
    this.#closing.add({ stop: () => upkeep.stop(), release: () => upkeep.close() });
    this.#closing.add({ release: () => logs?.flush() });
    if (options.notify !== undefined) upkeep.start();
    if (logger !== false) logEvents(events, logger, instance, outages);
  }

  /**
   * Runs the task if the lock is free. With `oncePer`, it also must not have completed in its period.
   *
   * The call does not register the job, so the guard does not retry it: if it fails, call `run` again yourself. With
   * `oncePer` and without `at`, the call also starts the other overdue runs of the job, with the same task;
   * `currentRun()` returns which run it is.
   *
   * @throws LockStorageError if the store did not confirm the lock. The task did not run.
   * @throws ClaimLostError if the run does not count, because another instance has taken it over
   * @throws InvalidLockConfigurationError for an invalid configuration
   * @throws the task's own errors, unchanged
   */
  async run<T>(configuration: JobConfiguration, task: LockedTask<T>): Promise<TaskResult<T>> {
    const { at, scheduledAt, ...declared } = configuration;
    const call = { task, args: [], call: () => task, at, scheduledAt };
    return await this.#calls.execute(this.#calls.parts.registry.compile(declared), call);
  }

  /**
   * Starts the overdue runs of the registered once-per jobs: retries that are due, runs of crashed holders, ticks that
   * failed before their run was recorded, and for jobs with `catchUp` also missed periods. The guard calls this itself
   * every `pollInterval`.
   *
   * @returns after all runs that it started have ended
   * @throws LockStorageError if the overdue runs cannot be read from the store. Events report the failure of a run.
   */
  async runOverdue(): Promise<OverdueResult> {
    return await this.#upkeep.runNow();
  }

  /**
   * `false`: this instance runs no jobs, as if each had `enabled: false`, for example in a blue-green deployment. The purge
   * of `retention` waits, too, and a run that has started goes on. The locks of `lockManager()` are not affected.
   *
   * @param enabled a function is handled as that of a job
   * @throws InvalidLockConfigurationError if it is neither a boolean nor a function
   */
  enable(enabled: boolean | (() => boolean)): void {
    const { registry, registered } = this.#calls.parts;
    registry.isEnabled = parseSwitch(enabled, 'the guard');
    registered?.showEnabled(registry.isEnabled);
  }

  /** @internal */
  standby(): never {
    throw new InvalidLockUseError('guard.standby is gone. Use guard.enable.');
  }

  /**
   * Locks that wait, outside of jobs, with the guard's lock provider, defaults and events. When the guard closes, waiters
   * reject with an AbortError, and locks that are still held are released after the running jobs have ended.
   */
  lockManager(): LockManager {
    return this.#lockManager;
  }

  /**
   * Shows the runs of once-per jobs. `operations(guard)` of `cronlatch/operations` changes them.
   *
   * @throws InvalidLockConfigurationError if the guard has no ledger
   */
  get ledger(): RunLedger {
    const { context, registry: jobs } = this.#calls.requireOncePerRunner('guard.ledger needs');
    return new RunLedger({
      context,
      jobOf: (job) => jobs.get(job),
      lockOf: (job) => jobs.get(job)?.lock.name,
    });
  }

  /** The locks that this process holds now: those of running jobs, and those of `lockManager()`. Sends nothing. */
  running(): readonly RunningLock[] {
    return [...this.#calls.parts.executor.runs.held(), ...this.#lockManager.held()];
  }

  /**
   * Returns a guarded version of `task` for any scheduler. Calling it resolves to the task's value, or to `undefined` if
   * the run was skipped. With `oncePer` this registers the job: the guard then also starts its overdue runs, with the
   * arguments that `resume` returns, or with none.
   *
   * @throws InvalidLockConfigurationError for an invalid configuration: at once, not at the first tick
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
    configuration: LockByArguments<A> & JobOptions,
    task: (...args: A) => T | PromiseLike<T>,
    options?: WrapOptions<A>,
  ): (...args: A) => Promise<T | undefined>;
  wrap<A extends unknown[], T>(
    configuration: GuardConfiguration | (LockByArguments<A> & JobOptions),
    task: (...args: A) => T | PromiseLike<T>,
    options: WrapOptions<A> = {},
  ): (...args: A) => Promise<T | undefined> {
    const complete = labelled({ ...configuration }, task.name || 'wrapped function');
    return this.#calls.wrap(complete, task, options);
  }

  /**
   * Checks a configuration without running anything: throws what `run` would throw for it.
   *
   * @throws InvalidLockConfigurationError naming the lock and the value
   */
  check(configuration: GuardConfiguration): void {
    this.#calls.parts.registry.compile(configuration);
  }

  /** @returns a function that removes the listener */
  on<K extends EventName>(name: K, listener: EventListener<K>): () => void {
    return this.#calls.parts.events.on(name, listener);
  }

  /** @returns a function that removes the listener */
  once<K extends EventName>(name: K, listener: EventListener<K>): () => void {
    return this.#calls.parts.events.once(name, listener);
  }

  /** Removes a listener that was added with `on` or `once`. */
  off<K extends EventName>(name: K, listener: EventListener<K>): void {
    this.#calls.parts.events.off(name, listener);
  }

  /**
   * For health checks: sends a small query to the lock store. A lock provider without `probe` counts as reachable.
   *
   * @throws LockStorageError if the store fails, or does not answer within `timeout` (default 1 s)
   */
  async probe(timeout: Duration = '1s'): Promise<void> {
    await this.#calls.parts.lockProvider.probe?.(parsePositiveDuration(timeout, 'timeout of probe'));
  }

  /**
   * Stops the schedules, starts no more jobs, and waits for the running ones. Their signals abort `grace` (default 5 s)
   * before the `timeout` (default 20 s). Resolves after the last statement, so you can call `process.exit()` then.
   * Further calls return the same result.
   */
  async close(options: CloseOptions = {}): Promise<CloseResult> {
    return await this.#closing.close(options);
  }

  /**
   * Closes the guard on SIGTERM and SIGINT. Afterwards the signal ends the process, unless the application listens to
   * it too. A second signal has its usual effect at once, unless it comes within 0.5 s of the first. A closed guard no
   * longer listens. The first process of a container, which a signal does not end, exits with status 143 or 130.
   *
   * @returns a function that stops listening
   */
  closeOnSignals(options: CloseOptions = {}): () => void {
    return this.#closing.onSignals(options);
  }

  /** Whether `close` was called. From then on no job starts. */
  get isClosing(): boolean {
    return this.#calls.parts.executor.runs.closing;
  }

  /** Adds something to stop or close along with the guard, for example your own scheduler. */
  onClose(hook: CloseHook): void {
    this.#closing.add(hook);
  }
}

refuseGone(JobGuard, 'guard', { backfill: 'run' });

/** What a guard with a ledger does besides the calls of its jobs and notices, in the order in which a poll begins it. */
function servicesOf(
  calls: Calls,
  registered: Register,
  { retention, pollInterval }: JobGuardOptions,
): Service[] {
  const runner = calls.requireOncePerRunner('The services need');
  const { acts } = runner.context.store;
  const services: Service[] = [registered];
  if (acts !== undefined) services.push(new RunRequests(acts, calls, runner, registered));
  services.push(new OverdueRuns(runner, registered));
  if (retention !== undefined || pollInterval !== false) services.push(purgeService(calls, retention));
  return services;
}
