import { systemClock, withinLimit, type Clock } from './clock';
import { EventHub, type LockEvent } from './events';
import { refuseUnawaitable } from './handler-result';
import type { Lock, LockObserver, LockProvider } from './lock';
import type { TaskConfiguration } from './lock-configuration';
import { activeContexts, LockContext, runInContext } from './lock-context';
import { RunRegistry, type ActiveRun } from './run-registry';
import type { LockedTask, SkipReason, TaskResult } from './task-result';

export interface ExecutorOptions {
  readonly clock?: Clock | undefined;
  readonly events?: EventHub | undefined;
}

/** A release that takes longer than this goes on behind the caller's back, and is reported when it ends. */
const LONGEST_WAIT_FOR_RELEASE_MS = 10_000;

/** A lease, and the lock that its handler sees in its place. */
interface Acquired {
  readonly lease: Lock;
  readonly lock: Lock;
}

/** Runs tasks under locks: what decorated methods, `guard.run` and `guard.wrap` go through. */
export class LockingTaskExecutor {
  readonly #lockProvider: LockProvider;
  readonly #clock: Clock;
  readonly #events: EventHub;
  /** What runs here, and whether anything may still start. */
  readonly runs = new RunRegistry();

  constructor(
    lockProvider: LockProvider,
    { clock = systemClock, events = new EventHub() }: ExecutorOptions = {},
  ) {
    this.#lockProvider = lockProvider;
    this.#clock = clock;
    this.#events = events;
  }

  /**
   * Runs the task if the lock can be had at once, and releases the lock when the task and everything nested in it
   * have settled. Inside a live lease of the same provider and name the task runs in that lease.
   *
   * @throws LockStorageError if it is not known that the lock was obtained: the task did not run
   * @throws whatever the task throws, unchanged
   */
  async executeWithLock<T>(task: LockedTask<T>, configuration: TaskConfiguration): Promise<TaskResult<T>> {
    const { name, scheduledAt } = configuration;
    const event: LockEvent = { name, scheduledAt };
    for (const outer of activeContexts()) {
      if (outer.lockProvider === this.#lockProvider && outer.lock.name === name) {
        return { executed: true, value: await outer.nest((lock) => this.#observed(task, lock, event)) };
      }
    }
    const refusal = this.runs.refusal(name);
    if (refusal !== undefined) return this.#refuse(event, refusal);
    const run = this.runs.begin(name);
    let unfinishedRelease: Promise<void> | undefined;
    try {
      const acquired = await this.#acquire(configuration, run, event);
      if (acquired === undefined) return { executed: false, reason: 'locked' };
      let started = false;
      try {
        if (this.runs.closing) return this.#skip(event, 'closing');
        started = true;
        return { executed: true, value: await this.#execute(task, acquired, event) };
      } finally {
        // The lease of a handler that was not waited for ends by itself.
        if (!started || !run.abandoned) {
          const release = this.#release(acquired.lease, event);
          const inTime = await withinLimit(this.#clock, release, LONGEST_WAIT_FOR_RELEASE_MS);
          if (inTime === 'time-out') unfinishedRelease = release;
        }
      }
    } finally {
      if (unfinishedRelease === undefined) this.runs.end(run);
      else void unfinishedRelease.then(() => this.runs.end(run));
    }
  }

  #refuse(event: LockEvent, reason: SkipReason): TaskResult<never> {
    if (reason === 'running-here' && this.runs.noticeStuck(event.name)) this.#events.emit('run:stuck', event);
    return this.#skip(event, reason);
  }

  #skip(
    event: LockEvent,
    reason: SkipReason,
    holder?: { heldBy: string; heldUntil: Date },
  ): TaskResult<never> {
    this.#events.emit('lock:skipped', {
      ...event,
      reason,
      heldBy: holder?.heldBy,
      heldUntil: holder?.heldUntil,
    });
    return { executed: false, reason };
  }

  async #acquire(
    configuration: TaskConfiguration,
    run: ActiveRun,
    event: LockEvent,
  ): Promise<Acquired | undefined> {
    let holder: { heldBy: string; heldUntil: Date } | undefined;
    const observer: LockObserver = {
      refused: (found) => (holder = found),
      extended: (lockAtMostForMs) => this.#events.emit('lock:extended', { ...event, lockAtMostForMs }),
      lost: (error) => this.#events.emit('lock:lost', { ...event, error }),
      warning: (message, error) => this.#events.emit('guard:warning', { message, error }),
      letLapse: run.lapseSignal,
    };
    try {
      const lease = await this.#lockProvider.lock(configuration, observer);
      if (lease === undefined) {
        this.#skip(event, 'locked', holder);
        return undefined;
      }
      const acquired = { lease, lock: run.attach(lease) };
      this.#events.emit('lock:acquired', { ...event, fencingToken: lease.fencingToken });
      return acquired;
    } catch (error) {
      this.#events.emit('lock:failed', { ...event, error });
      throw error;
    }
  }

  async #execute<T>(task: LockedTask<T>, { lease, lock }: Acquired, event: LockEvent): Promise<T> {
    const context = new LockContext(lock, lease, this.#lockProvider);
    try {
      return await runInContext(context, () => this.#observed(task, lock, event));
    } finally {
      await context.end();
    }
  }

  async #observed<T>(task: LockedTask<T>, lock: Lock, event: LockEvent): Promise<T> {
    const startedAtMs = this.#clock.monotonicMs();
    const durationMs = (): number => this.#clock.monotonicMs() - startedAtMs;
    this.#events.emit('run:started', { ...event, fencingToken: lock.fencingToken });
    try {
      const value = await callTask(task, lock);
      this.#events.emit('run:completed', { ...event, durationMs: durationMs() });
      return value;
    } catch (error) {
      this.#events.emit('run:failed', { ...event, error, durationMs: durationMs() });
      throw error;
    }
  }

  /** Never rejects: the job's own outcome wins. */
  async #release(lock: Lock, event: LockEvent): Promise<void> {
    try {
      this.#events.emit('lock:released', { ...event, stillOurs: await lock.unlock() });
    } catch (error) {
      this.#events.emit('lock:releaseFailed', { ...event, error });
    }
  }
}

async function callTask<T>(task: LockedTask<T>, lock: Lock): Promise<T> {
  const result: unknown = task(lock);
  refuseUnawaitable(lock.name, result);
  const value = await (result as T | PromiseLike<T>);
  refuseUnawaitable(lock.name, value);
  return value;
}
