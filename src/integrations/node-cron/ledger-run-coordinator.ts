import type { RunCoordinator, ScheduledTask, TaskContext } from 'node-cron';
import { InvalidLockConfigurationError, InvalidLockUseError } from '../../core';
import { describeValue } from '../../core/options';
import { requireGuard } from '../../guard/configured-guard';
import { callsOf, type Calls } from '../../guard/calls/calls';
import type { Slot } from '../../ledger/slots/slot';
import type { SlotRuns } from '../../ledger/slots/slot-runs';
import type { ScheduleJobsOptions } from './schedule-jobs';

/** `2026-11-20T03:00:00.000Z` */
const INSTANT_LENGTH = 24;

/**
 * Elects one instance for each tick of node-cron's `distributed` tasks, with the run ledger. A tick is a row whose job is
 * the task's name and whose period key is the scheduled time. The instance that inserts the row runs the tick. The row
 * stays, so an instance whose clock is behind, or that was blocked, is not elected later, however short the job was.
 *
 * `scheduleDistributed` creates such a task and observes it. If you create a task yourself, pass the coordinator in its
 * options, or to `setRunCoordinator` before you create the task. Then pass the task to `observe`.
 *
 * node-cron's interface sets limits: the coordinator does not renew leases, has no fencing tokens and no abort signal,
 * and does not retry a tick whose instance crashed. `scheduleJobs` and `scheduleLocked` do all that.
 */
export class LedgerRunCoordinator implements RunCoordinator {
  readonly #guard: Calls;
  readonly #observed = new Map<string, ObservedTask>();
  readonly #warned = new Set<string>();

  /**
   * @throws NotConfiguredError if there is no guard
   * @throws InvalidLockUseError if the guard is closed
   * @throws InvalidLockConfigurationError if the guard has no run store
   */
  constructor(options: ScheduleJobsOptions = {}) {
    this.#guard = callsOf(requireGuard(options.guard, 'LedgerRunCoordinator'));
    void this.#guard.slots;
  }

  /**
   * Called by node-cron. Returns whether this instance runs the tick; exactly one of all instances does. Settles within
   * 4 s, because node-cron waits 5 s. If the reply of the database is lost, it reads the row. A closing guard is not
   * elected.
   *
   * @param ttlMs `distributedLease` in milliseconds. A run that has not ended after this time counts as interrupted
   * @throws LockStorageError if the store did not confirm the election. node-cron skips the tick with
   * `coordinator-error`. If this instance was elected after all, its row becomes failed with the reason `unconfirmed`
   * @throws InvalidLockConfigurationError for a name that the ledger cannot store
   * @throws InvalidLockUseError if the key is not a node-cron run key, or names a once-per job
   */
  async shouldRun(key: string, ttlMs: number): Promise<boolean> {
    const slot = slotOfKey(key);
    this.#observed.get(slot.job)?.markCoordinated();
    return await this.#guard.slots.elect(slot, ttlMs);
  }

  /**
   * Called by node-cron when the tick has ended, successfully or not. Does not release the tick. If its task is not
   * observed, the row stays running until its lease expires.
   */
  onComplete(key: string): void {
    const slot = slotOfKey(key);
    if (!this.#guard.slots.unknownEnd(slot) || this.#warned.has(slot.job)) return;
    this.#warned.add(slot.job);
    this.#guard.warn(
      `A tick of task '${slot.job}' has ended, but its outcome is unknown, so its row stays running until its lease expires. Pass the task to observe() of its LedgerRunCoordinator, or create it with scheduleDistributed.`,
    );
  }

  /**
   * Records the outcomes of the task's ticks: completed with a result, or failed with an error. It also records a tick
   * that did not start because the task was stopped during its random delay.
   *
   * @throws InvalidLockConfigurationError if the task is a file, has no name, or one that the ledger cannot store
   * @throws InvalidLockUseError if a once-per job has the name of the task
   */
  observe(task: ScheduledTask): void {
    const observed = new ObservedTask(task, this.#guard.slots, (message) => this.#guard.warn(message));
    if (task.name !== undefined) this.#observed.set(task.name, observed);
  }
}

/**
 * Parses node-cron's key of a tick: the task's name, a colon and the scheduled time. The name can contain colons.
 *
 * @throws InvalidLockUseError for any other key
 */
function slotOfKey(key: string): Slot {
  const at = new Date(key.slice(-INSTANT_LENGTH));
  const job = key.slice(0, -INSTANT_LENGTH - 1);
  if (!Number.isNaN(at.getTime()) && key === `${job}:${at.toISOString()}`) return { job, at };
  throw new InvalidLockUseError(
    `${describeValue(key)} is not a node-cron run key, which is '<task name>:<ISO instant>'.`,
  );
}

/** Records the outcomes of the slots for which a task was elected, from the events of that task. */
class ObservedTask {
  readonly #name: string;
  /** The ticks that have started and not ended. By the id of the execution. */
  readonly #startedTicks = new Map<string, { readonly slot: Slot; readonly context: TaskContext }>();
  #isCoordinated = false;

  /** @throws InvalidLockConfigurationError for a task without a name, or that is a file */
  constructor(
    task: ScheduledTask,
    private readonly slots: SlotRuns,
    private readonly warn: (message: string) => void,
  ) {
    this.#name = nameOf(task);
    if ('taskPath' in task) refuseFile(this.#name);
    slots.check(this.#name);
    task.on('execution:started', (context) => this.#onStarted(context));
    task.on('execution:finished', (context) => {
      const slot = this.#end(context);
      if (slot !== undefined) slots.completed(slot, context.execution?.result);
    });
    task.on('execution:failed', (context) => {
      const slot = this.#end(context);
      if (slot !== undefined) slots.failed(slot, context.execution?.error);
    });
    task.on('execution:skipped', (context) => this.#onSkipped(context));
    for (const event of ['task:stopped', 'task:destroyed'] as const) task.on(event, () => this.#onStopped());
  }

  markCoordinated(): void {
    this.#isCoordinated = true;
  }

  #onStarted(context: TaskContext): void {
    const { date, execution } = context;
    // A call of `execute()` uses no coordinator and has no slot.
    if (execution?.reason !== 'scheduled') return;
    const slot = { job: this.#name, at: date };
    if (this.slots.begun(slot)) this.#startedTicks.set(execution.id, { slot, context });
    else this.#warnIfUncoordinated();
  }

  #end({ execution }: TaskContext): Slot | undefined {
    const id = execution?.id ?? '';
    const started = this.#startedTicks.get(id);
    this.#startedTicks.delete(id);
    return started?.slot;
  }

  #onSkipped({ date, reason }: TaskContext): void {
    this.#warnIfUncoordinated();
    if (reason !== 'coordinator-error') return;
    const error = 'The tick did not start: node-cron stopped waiting for the election.';
    this.slots.cancel({ job: this.#name, at: date }, { reason: 'unconfirmed', error });
  }

  #onStopped(): void {
    for (const [id, { slot, context }] of this.#startedTicks) {
      if (context.execution?.startedAt !== undefined) continue;
      this.#startedTicks.delete(id);
      const error = 'The tick did not start: its task was stopped during the random delay.';
      this.slots.cancel(slot, { reason: 'stopped', error });
    }
  }

  #warnIfUncoordinated(): void {
    if (this.#isCoordinated) return;
    this.#isCoordinated = true; // Warns only once.
    this.warn(
      `Task '${this.#name}' does not use the LedgerRunCoordinator that observes it, so the ledger does not decide which instance runs it. Create the task with { distributed: true, runCoordinator }, or call setRunCoordinator before you create it.`,
    );
  }
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
