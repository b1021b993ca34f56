import { systemClock, withinLimit, type Clock } from '../clock';
import { CallReport, EventHub, observerOf } from './event-hub';
import type { LockEvent, RunIdentity } from './events';
import { InvalidLockUseError } from '../errors';
import type { Lock, LockedTask, LockObserver, LockProvider } from '../lock';
import type { TaskConfiguration } from '../lock-configuration';
import { GrantedLock, liveLock, RunRegistry, type ActiveRun } from './run-registry';
import { instanceName } from '../lease/owner';
import { StorageBasedLockProvider } from '../lease/storage-based-lock-provider';
import type { TaskResult } from './task-result';

export interface ExecutorOptions {
  readonly clock?: Clock | undefined;
  readonly events?: EventHub | undefined;
  /** As for a guard. */
  readonly instanceName?: string | undefined;
}

/** If the release takes longer, the caller gets its result first, and an event reports the end of the release. */
export const LONGEST_WAIT_FOR_RELEASE_MS = 10_000;

/** After this time, a warning reports a lock provider that does not answer. */
const LONGEST_SILENCE_MS = 60_000;

/** Details of a task under a lock, for its events. */
export interface ExecuteOptions {
  readonly run?: RunIdentity | undefined;
  readonly businessDate?: string | undefined;
  /** The task sets its `reason` if its run does not count, and its `failure`. */
  readonly report: CallReport;
}

export interface HeldLock {
  readonly lock: Lock;
  /** Whether the guard has stopped waiting for the work under the lock. */
  readonly isAbandoned: () => boolean;
  /** Keeps the lock until this has settled, although the caller gets its result before. It must not reject. */
  keepUntil(work: Promise<unknown>): void;
  execute<T>(task: LockedTask<T>, options: ExecuteOptions): Promise<T>;
}

/** Runs tasks under locks, for decorated methods, `guard.run` and `guard.wrap`. */
export class LockingTaskExecutor {
  readonly #lockProvider: LockProvider;
  readonly #clock: Clock;
  readonly #events: EventHub;
  /** The jobs that run in this process. The registry decides whether another one may start. */
  readonly runs = new RunRegistry();
  /** Names this process in the owners of its locks. */
  readonly instance: string;

  /** @throws InvalidLockConfigurationError for an invalid `instanceName` */
  constructor(
    lockProvider: LockProvider,
    { clock = systemClock, events = new EventHub(), instanceName: name }: ExecutorOptions = {},
  ) {
    this.instance = instanceName(name);
    this.#lockProvider = lockProvider;
    this.#clock = clock;
    this.#events = events;
  }

  /**
   * Runs the task if the lock is free. Releases the lock when the task and everything nested in it have settled.
   * Inside a live lease of the same provider and name, the task runs in that lease.
   *
   * @throws LockStorageError if it is not certain that the lock was obtained: the task did not run
   * @throws the task's own error, unchanged
   */
  executeWithLock<T>(task: LockedTask<T>, configuration: TaskConfiguration): Promise<TaskResult<T>> {
    return this.runTask(task, new CallReport(this.#events, configuration, configuration.scheduledAt));
  }

  /** Like `executeWithLock`, for a call with a report of its own, so that all calls of a job share one configuration. */
  runTask<T>(task: LockedTask<T>, report: CallReport): Promise<TaskResult<T>> {
    const work = (held: HeldLock): Promise<TaskResult<T>> =>
      held.execute(task, { report }).then((value) => ({ executed: true, value }));
    const tickLateByMs = Math.max(0, this.#clock.wallMs() - (report.scheduledAt?.getTime() ?? Infinity));
    return this.holding(report, work, { tickLateByMs });
  }

  /**
   * Like `runTask`, for work that decides under the lock whether to run a task, or to run several.
   *
   * @param acquisition.acquire replaces the single attempt. It may wait for the lock, also for a run of this process
   */
  async holding<T>(
    report: CallReport,
    work: (held: HeldLock) => Promise<TaskResult<T>>,
    acquisition: {
      readonly tickLateByMs?: number;
      readonly acquire?: (observer: LockObserver) => Promise<Lock | undefined>;
    } = {},
  ): Promise<TaskResult<T>> {
    const { tickLateByMs, acquire } = acquisition;
    const { lock: configuration, event } = report;
    const { name } = configuration;
    const held = (lock: GrantedLock): HeldLock => ({
      lock,
      isAbandoned: () => lock.run.isAbandoned,
      keepUntil: (kept) => lock.keepUntil(kept),
      execute: (task, options) => this.#execute(task, lock, options),
    });
    const outer = liveLock(this.#lockProvider, name);
    if (outer !== undefined) return await outer.nest(() => work(held(outer)));
    const refusal = acquire === undefined ? this.runs.refusal(name) : undefined;
    if (refusal === 'running-here' && this.runs.noticeStuck(name)) this.#events.emit('run:stuck', event);
    if (refusal !== undefined) return report.skip(refusal);
    const ask = (observer: LockObserver): Promise<Lock | undefined> =>
      this.#warnIfSilent(this.#lockProvider.lock(configuration, observer), name);
    const run = this.runs.begin(name, { mayWait: acquire !== undefined });
    const lock = await this.#acquire(acquire ?? ask, run, report, tickLateByMs);
    if (lock === undefined) return { executed: false, reason: 'locked' };
    const mayStart = !this.runs.closing;
    try {
      if (mayStart) return await lock.during(() => work(held(lock)));
      return report.skip('closing');
    } finally {
      // The lock of an abandoned handler stays until its lease expires.
      if (mayStart && run.isAbandoned) this.runs.end(run);
      else await this.#release(lock, event);
    }
  }

  async #acquire(
    acquire: (observer: LockObserver) => Promise<Lock | undefined>,
    run: ActiveRun,
    report: CallReport,
    tickLateByMs: number | undefined,
  ): Promise<GrantedLock | undefined> {
    const { event } = report;
    const onContradiction = (): void => void (run.isReleasing && this.runs.endUnreleased(run));
    const { instance } = this;
    const observer = observerOf(run, this.#events, event, { instance, tickLateByMs, onContradiction });
    let lock: GrantedLock | undefined;
    try {
      const lease = await acquire(observer);
      if (lease === undefined) report.skip('locked', observer.holder);
      else {
        lock = new GrantedLock(lease, this.#lockProvider, run);
        this.#events.emit('lock:acquired', { fencingToken: lease.fencingToken, ...event });
      }
      return lock;
    } catch (error) {
      report.fail(error);
      throw error;
    } finally {
      if (lock === undefined) this.runs.end(run);
    }
  }

  /** A third-party provider may never answer, and silently skip its job. Those of cronlatch limit each statement. */
  #warnIfSilent(answer: Promise<Lock | undefined>, name: string): Promise<Lock | undefined> {
    if (this.#lockProvider instanceof StorageBasedLockProvider) return answer;
    const warn = (): void =>
      this.#events.warn(
        `The lock provider has not answered for lock '${name}' within ${LONGEST_SILENCE_MS / 1000} s. Until it does, the job does not run here and its ticks are skipped as 'running-here'. Give the provider a time limit.`,
      );
    const cancel = this.#clock.schedule(LONGEST_SILENCE_MS, warn, { keepAlive: false });
    return answer.finally(cancel);
  }

  #execute<T>(
    task: LockedTask<T>,
    lock: GrantedLock,
    { run, businessDate, report }: ExecuteOptions,
  ): Promise<T> {
    const { fencingToken } = lock;
    const event = run === undefined ? report.event : { ...report.event, run };
    lock.run.task = event;
    return this.runs.observe({ businessDate, fencingToken, ...event }, async () => {
      const startedAtMs = this.#clock.monotonicMs();
      const durationMs = (): number =>
        (report.durationMs = Math.round(this.#clock.monotonicMs() - startedAtMs));
      if (run !== undefined) report.run = run;
      this.#events.emit('run:started', { fencingToken, ...event });
      try {
        const result: unknown = task(lock);
        refuseUnawaitable(lock.name, result);
        const value = await (result as T | PromiseLike<T>);
        refuseUnawaitable(lock.name, value);
        const { reason } = report;
        if (reason === undefined) {
          // The ledger decides whether a run counts that has lost its lock.
          const lost = run === undefined && lock.isLost ? { lockLost: true as const } : undefined;
          this.#events.emit('run:completed', { durationMs: durationMs(), ...lost, ...event });
        } else report.skipRun(run, reason, { durationMs: durationMs() });
        return value;
      } catch (error) {
        if (report.reason === 'given-back')
          this.#events.emit('run:givenBack', { ...event, durationMs: durationMs() });
        else
          this.#events.emit('run:failed', { ...event, error, durationMs: durationMs(), ...report.failure });
        throw error;
      }
    });
  }

  /** Releases a lock, and then ends its run. Never rejects: the job's own outcome wins. The caller waits for a limited time. */
  async #release(lock: GrantedLock, event: LockEvent): Promise<void> {
    const { run, keptUntil } = lock;
    const release = async (): Promise<void> => {
      run.isReleasing = true;
      try {
        this.#events.emit('lock:released', { stillOurs: await lock.unlock(), ...event });
      } catch (error) {
        this.#events.emit('lock:releaseFailed', { ...event, error });
      }
      this.runs.end(run);
    };
    const limitMs = keptUntil === undefined ? LONGEST_WAIT_FOR_RELEASE_MS : 0;
    const released = keptUntil === undefined ? release() : keptUntil.then(release);
    await withinLimit(this.#clock, Promise.race([released, run.settled]), limitMs);
  }
}

/** Refuses a result whose work would continue unnoticed after the release of the lock. */
export function refuseUnawaitable(name: string, result: unknown): void {
  const kind = kindOf(result);
  if (kind === undefined) return;
  throw new InvalidLockUseError(
    `The handler of lock '${name}' returned ${kind}: its work would run after the release. Await it inside the handler.`,
  );
}

function kindOf(result: unknown): string | undefined {
  if (typeof result !== 'object' || result === null || 'then' in result) return undefined;
  if (Symbol.asyncIterator in result) return 'an async iterator';
  if (Symbol.iterator in result && 'next' in result) return 'a generator or iterator';
  if ('subscribe' in result && typeof result.subscribe === 'function') return 'an Observable';
  return undefined;
}
