import type { RunCoordinator, ScheduledTask } from 'node-cron';
import { InvalidLockUseError } from '../../core';
import { describeValue } from '../../core/describe-value';
import { requireGuard } from '../../guard/configured-guard';
import type { GuardIntegration } from '../../guard/integration';
import { integrationOf } from '../../guard/job-guard';
import type { Slot } from '../../guard/slots';
import { ObservedTask } from './observed-task';
import type { ScheduleJobsOptions } from './schedule-jobs';

/** `2026-11-20T03:00:00.000Z` */
const INSTANT_LENGTH = 24;

/**
 * Elects one instance for each tick of node-cron's `distributed` tasks, by the run ledger: a tick is a row, whose job is
 * the task's name and whose period key is the instant that was meant. Whoever inserts the row runs the tick. The row
 * stays: an instance whose clock is behind, or that was blocked, is not elected later, however short the job was.
 *
 * `scheduleDistributed` makes such a task and observes it. For one that is made otherwise, pass the coordinator among its
 * options, or to `setRunCoordinator` before the task is made, and give the task to `observe`.
 *
 * What node-cron's interface cannot carry, it does not do: there is no renewal, no fencing token and no signal, and a
 * tick whose instance died is not run again. `scheduleJobs` and `scheduleLocked` do all that.
 */
export class LedgerRunCoordinator implements RunCoordinator {
  readonly #guard: GuardIntegration;
  readonly #observed = new Map<string, ObservedTask>();
  readonly #complained = new Set<string>();

  /**
   * @throws NotConfiguredError without any guard
   * @throws InvalidLockUseError with a guard that is closed
   * @throws InvalidLockConfigurationError with a guard that has no run store
   */
  constructor(options: ScheduleJobsOptions = {}) {
    this.#guard = integrationOf(requireGuard(options.guard, 'LedgerRunCoordinator'));
    void this.#guard.slots;
  }

  /**
   * Called by node-cron: whether this instance runs the tick. Of all that ask, ever, one does. Answers within 4 s, where
   * node-cron waits 5. An answer that is lost is looked up. A guard that is closing is not elected.
   *
   * @param ttlMs `distributedLease`: a run that has not ended after this time counts as lost, and is shown as interrupted
   * @throws LockStorageError when it is not known who was elected: node-cron skips the tick, with `coordinator-error`.
   * Should this instance turn out to have been, the row is written as failed, with the reason `unconfirmed`
   * @throws InvalidLockConfigurationError for a name that the ledger cannot keep
   * @throws InvalidLockUseError for what is no key of node-cron's, and for the name of a job that runs once per period
   */
  async shouldRun(key: string, ttlMs: number): Promise<boolean> {
    const slot = slotOfKey(key);
    const observed = this.#observed.get(slot.job);
    observed?.wired();
    if (!(await this.#guard.slots.elect(slot, ttlMs))) return false;
    if (!observed?.isLeaving) return true;
    const error = 'It was not begun: its task was stopped.';
    this.#guard.slots.notBegun(slot, { reason: 'stopped', error });
    return false;
  }

  /**
   * Called by node-cron when the tick is over, however it ended. The slot is not released. That of a task which is not
   * observed stays as running until its lease ends.
   */
  onComplete(key: string): void {
    const slot = slotOfKey(key);
    if (!this.#guard.slots.unknownEnd(slot) || this.#complained.has(slot.job)) return;
    this.#complained.add(slot.job);
    this.#guard.warn(
      `A tick of task '${slot.job}' is over, and nobody tells how it ended: its row stays running until its lease ends. Give the task to observe() of its LedgerRunCoordinator, or make it by scheduleDistributed.`,
    );
  }

  /**
   * Has the outcome of the task's ticks recorded: completed with its result, or failed with its error; and those that
   * did not begin because the task was stopped in its random delay.
   *
   * @throws InvalidLockConfigurationError for a task without a name, and for one that the ledger cannot keep
   * @throws InvalidLockUseError for the name of a job that runs once per period
   */
  observe(task: ScheduledTask): void {
    const observed = new ObservedTask(task, this.#guard.slots, (message) => this.#guard.warn(message));
    if (task.name !== undefined) this.#observed.set(task.name, observed);
  }
}

/**
 * node-cron's key of a tick is the task's name, a colon and the scheduled time. A name may have colons.
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
