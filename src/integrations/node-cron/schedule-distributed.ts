import { schedule, type ScheduledTask, type TaskFn } from 'node-cron';
import type { Duration } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { requireGuard } from '../../guard/configured-guard';
import { callsOf } from '../../guard/calls/calls';
import { checkSchedule, defined, nextTimeOf, taskOptions, type ScheduleOptions } from './cron-schedule';
import { onDroppedTicks } from './dropped-ticks';
import { LedgerRunCoordinator, refuseFile } from './ledger-run-coordinator';
import type { ScheduleJobsOptions } from './schedule-jobs';
import { warnOfSkippedDates } from './skipped-dates';

const OPTIONS = ['guard', 'name', 'distributedLease', 'noOverlap'];

export interface ScheduleDistributedOptions extends ScheduleJobsOptions, ScheduleOptions {
  /** Must be the same on all instances, and different from all other tasks and jobs. It identifies a tick together with the scheduled time. */
  readonly name: string;
  /**
   * Must be longer than the job ever runs. A run that has not ended after this time counts as interrupted, and its
   * instance as crashed. Default 24 h, not node-cron's 30 s.
   */
  readonly distributedLease?: Duration | undefined;
  /** Whether this instance drops a tick while it still runs the previous one. Another instance may run it. Default `false`. */
  readonly noOverlap?: boolean | undefined;
}

/**
 * Creates a task in node-cron's distributed mode. Each tick runs on one instance, which the ledger elects, and its row in
 * the ledger records the outcome. The other instances get node-cron's `execution:skipped`. `guard.close()` stops the
 * task, waits for a running tick, and records its outcome.
 *
 * @throws InvalidLockConfigurationError for an invalid expression, time zone, name or duration, for a file, and if another
 * task has the same name
 * @throws InvalidLockUseError if the guard is closed, or a once-per job has the same name
 * @throws NotConfiguredError if there is no guard
 */
export function scheduleDistributed(
  expression: string,
  task: TaskFn,
  options: ScheduleDistributedOptions,
): ScheduledTask {
  const guard = requireGuard(options.guard, 'scheduleDistributed');
  const { name, distributedLease = '24h', noOverlap } = options;
  checkSchedule({ ...options, expression }, OPTIONS);
  const calls = callsOf(guard);
  calls.slots.check(name);
  const leaseMs = parsePositiveDuration(distributedLease, `distributedLease of task '${name}'`);
  if (typeof task !== 'function') refuseFile(name);
  const coordinator = new LedgerRunCoordinator({ guard });
  const schedules = [{ ...options, expression }];
  const declaration = {
    place: `scheduleDistributed('${expression}')`,
    configuration: { name, lockAtMostFor: leaseMs, lockAtLeastFor: 0, keepAlive: false },
    call: () => () => undefined,
    schedules,
    nextAfter: nextTimeOf(schedules),
    isDistributed: true,
  };
  const job = calls.admitOne(declaration);
  calls.announce();
  warnOfSkippedDates(calls, [job]);
  const scheduled = schedule(expression, task, {
    name,
    distributed: true,
    runCoordinator: coordinator,
    distributedLease: leaseMs,
    ...taskOptions(options),
    ...defined({ noOverlap }),
  });
  coordinator.observe(scheduled);
  onDroppedTicks(scheduled, (ticks, error) => calls.dropTicks(job, ticks, error));
  const stop = async (): Promise<void> => {
    await scheduled.stop();
    await scheduled.destroy();
  };
  guard.onClose({ stop });
  return scheduled;
}
