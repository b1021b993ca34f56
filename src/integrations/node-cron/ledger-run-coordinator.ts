import type { RunCoordinator, ScheduledTask, TaskContext } from 'node-cron';
import { FatalJobError, InvalidLockConfigurationError, InvalidLockUseError, type Duration } from '../../core';
import { describeValue } from '../../core/options';
import { requireGuard } from '../../guard/configured-guard';
import { callsOf, type Calls } from '../../guard/calls/calls';
import { configurationOf, DistributedTask } from './distributed-task';
import type { ScheduleJobsOptions } from './schedule-jobs';

/** `2026-11-20T03:00:00.000Z` */
const INSTANT_LENGTH = 24;

export interface LedgerRunCoordinatorOptions extends ScheduleJobsOptions {
  /** Of the locks of its tasks, which are renewed while the tasks run. Default: that of the guard, or else 1 minute. */
  readonly lockAtMostFor?: Duration | undefined;
}

/**
 * Elects one instance for each tick of node-cron's `distributed` tasks: a task is a job that runs once per tick, with a lock
 * of its name. So each tick has a run in the ledger, and two ticks of one task never overlap.
 *
 * `scheduleDistributed` does all this, so you need a coordinator only for a task that you create yourself. Pass it in the
 * task's options, or to `setRunCoordinator` before you create the task. Then pass the task to `observe`. cronlatch cannot
 * call the function of such a task: its runs are not retried, and no operator can start one. A tick whose lease ended
 * is `failed (lease-ended)`.
 */
export class LedgerRunCoordinator implements RunCoordinator {
  readonly #calls: Calls;
  readonly #lockAtMostFor: Duration | undefined;
  readonly #tasks = new Map<string, DistributedTask>();
  readonly #warned = new Set<string>();

  /**
   * @throws NotConfiguredError if there is no guard
   * @throws InvalidLockUseError if the guard is closed
   * @throws InvalidLockConfigurationError if the guard has no ledger
   */
  constructor({ guard, lockAtMostFor }: LedgerRunCoordinatorOptions = {}) {
    this.#calls = callsOf(requireGuard(guard, 'LedgerRunCoordinator'));
    this.#lockAtMostFor = lockAtMostFor;
    this.#calls.requireOncePerRunner('Distributed tasks need');
  }

  /**
   * Called by node-cron. Returns whether this instance runs the tick; at most one of all instances does. Settles within
   * 4 s, because node-cron waits 5 s.
   *
   * @throws LockStorageError if the store did not confirm the election. node-cron skips the tick with
   * `coordinator-error`. It does not start here, also if this instance is elected later
   * @throws InvalidLockConfigurationError for a name that the ledger cannot store
   * @throws InvalidLockUseError if the key is not a node-cron run key, or names a once-per job
   */
  async shouldRun(key: string): Promise<boolean> {
    const { name, at } = parseKey(key);
    return await this.#taskOf(name).elect(at);
  }

  /** Called by node-cron when the tick has ended, successfully or not. */
  onComplete(key: string): void {
    const { name, at } = parseKey(key);
    const tick = this.#taskOf(name).electedTick(at);
    if (tick === undefined || tick.hasBegun) return;
    const message = `A tick of task '${name}' has ended, but its outcome is unknown, so its run has failed. Pass the task to observe() of its LedgerRunCoordinator, or create it with scheduleDistributed.`;
    void tick.begin(() => Promise.reject(new FatalJobError(message))).catch(() => {});
    this.#warnOnce(name, message);
  }

  /**
   * Records the outcomes of the task's ticks: completed with a result, or failed with an error. A tick that did not start
   * because the task was stopped during its random delay has failed, too.
   *
   * @throws InvalidLockConfigurationError if the task is a file, has no name, or one that the ledger cannot store
   * @throws InvalidLockUseError if a once-per job has the name of the task
   */
  observe(task: ScheduledTask): void {
    const name = nameOf(task);
    if ('taskPath' in task) refuseFile(name);
    const observed = this.#taskOf(name);
    const ends = new Map<string, (context: TaskContext) => void>();
    const end = (context: TaskContext): void => {
      const id = context.execution?.id ?? '';
      ends.get(id)?.(context);
      ends.delete(id);
    };
    const checkCoordinated = (): void => {
      if (observed.isCoordinated) return;
      const message = `Task '${name}' does not use the LedgerRunCoordinator that observes it, so the ledger does not decide which instance runs it. Create the task with { distributed: true, runCoordinator }, or call setRunCoordinator before you create it.`;
      this.#warnOnce(name, message);
    };
    task.on('execution:started', ({ date, execution }) => {
      // A call of `execute()` uses no coordinator.
      if (execution?.reason !== 'scheduled') return;
      const tick = observed.electedTick(date);
      if (tick === undefined) return checkCoordinated();
      const ended = new Promise<TaskContext>((resolve) => ends.set(execution.id, resolve));
      const outcome = async (): Promise<unknown> => {
        const { execution: end } = await ended;
        if (end?.error !== undefined) throw end.error;
        return end?.result;
      };
      void tick.begin(outcome).catch(() => {}); // node-cron has the error, too.
    });
    task.on('execution:finished', end);
    task.on('execution:failed', end);
    task.on('execution:skipped', checkCoordinated);
    observed.cancelAtEndOf(task);
  }

  #taskOf(name: string): DistributedTask {
    const known = this.#tasks.get(name);
    if (known !== undefined) return known;
    const { registry } = this.#calls.parts;
    if (registry.get(name) !== undefined)
      throw new InvalidLockUseError(
        `Distributed task '${name}' has the name of a once-per job: give one of them another name.`,
      );
    const job = registry.jobOf(configurationOf(name, this.#calls, this.#lockAtMostFor));
    const created = new DistributedTask(this.#calls, job);
    this.#tasks.set(name, created);
    return created;
  }

  #warnOnce(name: string, message: string): void {
    if (this.#warned.has(name)) return;
    this.#warned.add(name);
    this.#calls.warn(message);
  }
}

/**
 * Parses node-cron's key of a tick: the task's name, a colon and the scheduled time. The name can contain colons.
 *
 * @throws InvalidLockUseError for any other key
 */
export function parseKey(key: string): { readonly name: string; readonly at: Date } {
  const at = new Date(key.slice(-INSTANT_LENGTH));
  const name = key.slice(0, -INSTANT_LENGTH - 1);
  if (!Number.isNaN(at.getTime()) && key === `${name}:${at.toISOString()}`) return { name, at };
  throw new InvalidLockUseError(
    `${describeValue(key)} is not a node-cron run key, which is '<task name>:<ISO instant>'.`,
  );
}

function nameOf({ id, name }: ScheduledTask): string {
  if (name !== undefined && name !== id) return name;
  throw new InvalidLockConfigurationError(
    `A distributed task needs a name. Without one, node-cron generates a different name on each instance, so each instance would run the task. Pass { name }.`,
  );
}

/** Of a file, node-cron does not report how each of its ticks ends. */
export function refuseFile(name: string): never {
  throw new InvalidLockConfigurationError(
    `Task '${name}' is a file. cronlatch distributes only functions: pass one that calls the file's function, or starts its process and waits for it.`,
  );
}
