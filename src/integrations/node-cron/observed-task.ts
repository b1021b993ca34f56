import type { ScheduledTask, TaskContext } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import type { Slot } from '../../ledger/slots/slot';
import type { SlotRuns } from '../../ledger/slots/slot-runs';

type Execution = NonNullable<TaskContext['execution']>;

/** A tick of a task that has started and not ended. */
interface StartedTick {
  readonly slot: Slot;
  readonly execution: Execution;
}

/** Records the outcomes of the slots for which a task was elected, from the events of that task. */
export class ObservedTask {
  readonly #name: string;
  /** By the id of the execution, because the event of a crashed process does not carry the time of its slot. */
  readonly #startedTicks = new Map<string, StartedTick>();
  #isCoordinated = false;

  /** @throws InvalidLockConfigurationError for a task without a name */
  constructor(
    private readonly task: ScheduledTask,
    private readonly slots: SlotRuns,
    private readonly warn: (message: string) => void,
  ) {
    this.#name = nameOf(task);
    slots.check(this.#name);
    task.on('execution:started', (context) => this.#onStarted(context));
    task.on('execution:finished', ({ execution }) => {
      const slot = this.#end(execution);
      if (slot !== undefined) slots.completed(slot, execution?.result);
    });
    task.on('execution:failed', ({ execution }) => {
      const slot = this.#end(execution);
      if (slot !== undefined) slots.failed(slot, execution?.error);
    });
    task.on('execution:skipped', (context) => this.#onSkipped(context));
    for (const event of ['task:stopped', 'task:destroyed'] as const) task.on(event, () => this.#onStopped());
    task.on('task:failed', ({ error }) => this.#onProcessFailed(error));
  }

  /** Called when the task has used its coordinator. */
  markCoordinated(): void {
    this.#isCoordinated = true;
  }

  /** Whether node-cron will end the process of this task before it can run another tick. */
  get isStopping(): boolean {
    return isForked(this.task) && ['stopped', 'destroyed'].includes(this.task.getStatus());
  }

  #onStarted({ date, execution }: TaskContext): void {
    // A call of `execute()` uses no coordinator and has no slot.
    if (execution?.reason !== 'scheduled') return;
    const slot = { job: this.#name, at: date };
    if (this.slots.begun(slot)) this.#startedTicks.set(execution.id, { slot, execution });
    else this.#warnIfUncoordinated();
  }

  #end(execution: Execution | undefined): Slot | undefined {
    const id = execution?.id ?? '';
    const started = this.#startedTicks.get(id);
    this.#startedTicks.delete(id);
    return started?.slot;
  }

  #onSkipped({ date, reason }: TaskContext): void {
    this.#warnIfUncoordinated();
    if (reason !== 'coordinator-error') return;
    // If the task was elected, its process got the result too late.
    const error = 'The tick did not start: node-cron stopped waiting for the election.';
    this.slots.cancel({ job: this.#name, at: date }, { reason: 'unconfirmed', error });
  }

  #onStopped(): void {
    if (isForked(this.task)) return; // Its events are copies, which do not show whether its function was called.
    for (const [id, { slot, execution }] of this.#startedTicks) {
      if (execution.startedAt !== undefined) continue;
      this.#startedTicks.delete(id);
      const error = 'The tick did not start: its task was stopped during the random delay.';
      this.slots.cancel(slot, { reason: 'stopped', error });
    }
  }

  #onProcessFailed(error: unknown): void {
    for (const { slot } of this.#startedTicks.values()) this.slots.failed(slot, error);
    this.#startedTicks.clear();
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

/** Whether the task is a file that node-cron runs in its own process. */
function isForked(task: ScheduledTask): boolean {
  return 'taskPath' in task;
}
