import type { ScheduledTask, TaskContext, TaskFn } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import { requireGuard } from '../../guard/configured-guard';
import { callsOf } from '../../guard/calls/calls';
import { currentRun } from '../../ledger';
import { checkedSchedule, type ScheduleOptions } from './cron-schedule';
import { configurationOf, DistributedTask } from './distributed-task';
import { parseKey, refuseFile, type LedgerRunCoordinatorOptions } from './ledger-run-coordinator';
import { scheduleTask } from './scheduled-task';

const OPTIONS = ['guard', 'name', 'lockAtMostFor'];

export interface ScheduleDistributedOptions extends LedgerRunCoordinatorOptions, ScheduleOptions {
  /** Must be the same on all instances, and different from all other tasks and jobs. It names the job and its lock. */
  readonly name: string;
}

/**
 * Creates a task in node-cron's distributed mode: a job that runs once per tick. Each tick runs on one instance, which the
 * guard elects, and its run in the ledger records the outcome. The other instances get node-cron's `execution:skipped`.
 * `guard.close()` stops the task, waits for a running tick, and records its outcome.
 *
 * @throws InvalidLockConfigurationError for an invalid expression, time zone, name or duration, for a file, and if another
 * task or job has the same name
 * @throws InvalidLockUseError if the guard is closed
 * @throws NotConfiguredError if there is no guard
 */
export function scheduleDistributed(
  expression: string,
  task: TaskFn,
  options: ScheduleDistributedOptions,
): ScheduledTask {
  const { name, lockAtMostFor } = options;
  if ('distributedLease' in options)
    throw new InvalidLockConfigurationError(
      `The option distributedLease of task '${name}' is gone: its lock is renewed while the task runs. Set lockAtMostFor instead: how long a crashed instance blocks the task.`,
    );
  const guard = requireGuard(options.guard, 'scheduleDistributed');
  const cron = checkedSchedule(expression, options, OPTIONS);
  if (typeof task !== 'function') refuseFile(name);
  const calls = callsOf(guard);
  calls.requireOncePerRunner('Distributed tasks need');
  const job = calls.admitOne({
    place: `scheduleDistributed('${expression}')`,
    configuration: configurationOf(name, calls, lockAtMostFor),
    call: () => (): unknown => task(contextOf(scheduled)),
    schedules: [cron],
    isAccepted: true,
  });
  const distributed = new DistributedTask(calls, job);
  calls.announce();
  const run = (context: TaskContext): Promise<unknown> => distributed.run(context, () => task(context));
  const runCoordinator = { shouldRun: (key: string) => distributed.elect(parseKey(key).at) };
  const scheduled = scheduleTask(calls, job, { ...cron, name, distributed: true, runCoordinator }, run);
  distributed.cancelAtEndOf(scheduled);
  guard.onClose({ stop: async () => await scheduled.destroy() });
  return scheduled;
}

/** Of a run that no tick of node-cron has started: a retry, or a request. */
function contextOf(task: ScheduledTask): TaskContext {
  const { scheduledAt } = currentRun();
  const date = scheduledAt ?? new Date();
  return { date, dateLocalIso: date.toISOString(), triggeredAt: new Date(), task };
}
