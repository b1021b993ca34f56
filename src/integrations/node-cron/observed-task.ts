import type { ScheduledTask, TaskContext } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import type { Slot, SlotRuns } from '../../guard/slots';

type Execution = NonNullable<TaskContext['execution']>;

/** A tick of a task that has begun, and not ended. */
interface Begun {
  readonly slot: Slot;
  readonly execution: Execution;
}

/** Tells the ledger, from the events of one task, what becomes of the slots that it was elected for. */
export class ObservedTask {
  readonly #name: string;
  /** By the id of the execution: a process that died is told of at another time than that of its slot. */
  readonly #begun = new Map<string, Begun>();
  #isWired = false;

  /** @throws InvalidLockConfigurationError for a task without a name */
  constructor(
    private readonly task: ScheduledTask,
    private readonly slots: SlotRuns,
    private readonly warn: (message: string) => void,
  ) {
    this.#name = nameOf(task);
    slots.check(this.#name);
    task.on('execution:started', (context) => this.#started(context));
    task.on('execution:finished', ({ execution }) => {
      const slot = this.#end(execution);
      if (slot !== undefined) slots.completed(slot, execution?.result);
    });
    task.on('execution:failed', ({ execution }) => {
      const slot = this.#end(execution);
      if (slot !== undefined) slots.failed(slot, execution?.error);
    });
    task.on('execution:skipped', (context) => this.#skipped(context));
    for (const event of ['task:stopped', 'task:destroyed'] as const) task.on(event, () => this.#stopped());
    task.on('task:failed', ({ error }) => this.#died(error));
  }

  /** Its coordinator has been asked. */
  wired(): void {
    this.#isWired = true;
  }

  /** A process that was told to stop is ended by node-cron before it could run what it is elected for now. */
  get isLeaving(): boolean {
    return isForked(this.task) && ['stopped', 'destroyed'].includes(this.task.getStatus());
  }

  #started({ date, execution }: TaskContext): void {
    // `execute()` asks no coordinator, and has no slot.
    if (execution?.reason !== 'scheduled') return;
    const slot = { job: this.#name, at: date };
    if (this.slots.begun(slot)) this.#begun.set(execution.id, { slot, execution });
    else this.#complain();
  }

  #end(execution: Execution | undefined): Slot | undefined {
    const id = execution?.id ?? '';
    const begun = this.#begun.get(id);
    this.#begun.delete(id);
    return begun?.slot;
  }

  #skipped({ date, reason }: TaskContext): void {
    this.#complain();
    if (reason !== 'coordinator-error') return;
    // If it was elected, the answer came too late for its process.
    const error = 'It was not begun: node-cron did not wait for the answer.';
    this.slots.notBegun({ job: this.#name, at: date }, { reason: 'unconfirmed', error });
  }

  #stopped(): void {
    if (isForked(this.task)) return; // It sends copies: nobody can see whether its function has been called.
    for (const [id, { slot, execution }] of this.#begun) {
      if (execution.startedAt !== undefined) continue;
      this.#begun.delete(id);
      const error = 'It was not begun: its task was stopped during the random delay before it.';
      this.slots.notBegun(slot, { reason: 'stopped', error });
    }
  }

  #died(error: unknown): void {
    for (const { slot } of this.#begun.values()) this.slots.failed(slot, error);
    this.#begun.clear();
  }

  #complain(): void {
    if (this.#isWired) return;
    this.#isWired = true; // Once is enough.
    this.warn(
      `Task '${this.#name}' is observed by a LedgerRunCoordinator that it does not ask: it was made without { distributed: true, runCoordinator }, or before setRunCoordinator was called, and runs by whatever it has instead.`,
    );
  }
}

function nameOf({ id, name }: ScheduledTask): string {
  if (name !== undefined && name !== id) return name;
  throw new InvalidLockConfigurationError(
    `A distributed task has no name: node-cron makes one up that is another on each instance, so each would run it. Give it { name }.`,
  );
}

/** A file that node-cron runs in a process of its own. */
function isForked(task: ScheduledTask): boolean {
  return 'taskPath' in task;
}
