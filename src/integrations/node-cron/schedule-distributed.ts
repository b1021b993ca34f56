import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { isAbsolute } from 'node:path';
import { schedule, type ScheduledTask, type TaskFn } from 'node-cron';
import { InvalidLockConfigurationError, type Duration } from '../../core';
import { describeValue } from '../../core/options';
import { parsePositiveDuration } from '../../core/duration';
import type { JobGuard } from '../../guard';
import { requireGuard } from '../../guard/configured-guard';
import { integrationOf } from '../../guard/integration';
import { checkSchedule, defined, nextTimeOf, taskOptions, type ScheduleOptions } from './cron-schedule';
import { onDroppedTicks } from './dropped-ticks';
import { LedgerRunCoordinator } from './ledger-run-coordinator';
import type { ScheduleJobsOptions } from './schedule-jobs';
import { warnOfSkippedDates } from './skipped-dates';

const OPTIONS = ['guard', 'name', 'distributedLease', 'noOverlap', 'startTimeout'];
const RESTART_DELAY_MS = 1000;
/** The delay after a failed start, whose cause may be temporary. */
const START_RETRY_DELAY_MS = 60_000;

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
  /** How long a file may take to load in its process, in milliseconds. Default 5000, as in node-cron. */
  readonly startTimeout?: number | undefined;
}

/**
 * Creates a task in node-cron's distributed mode. Each tick runs on one instance, which the ledger elects, and its row in
 * the ledger records the outcome. The other instances get node-cron's `execution:skipped`. `guard.close()` stops the
 * task, waits for a running tick, and records its outcome.
 *
 * @param task a function, or a file that node-cron runs in its own process: an absolute path or a URL
 * @throws InvalidLockConfigurationError for an invalid expression, time zone, name or duration, if another task has the
 * same name, and for a file with a relative path or a random delay
 * @throws InvalidLockUseError if the guard is closed, or a once-per job has the same name
 * @throws NotConfiguredError if there is no guard
 */
export function scheduleDistributed(
  expression: string,
  task: TaskFn | string | URL,
  options: ScheduleDistributedOptions,
): ScheduledTask {
  const guard = requireGuard(options.guard, 'scheduleDistributed');
  const { name, distributedLease = '24h', maxRandomDelay, noOverlap, startTimeout } = options;
  checkSchedule({ ...options, expression }, OPTIONS);
  const integration = integrationOf(guard);
  integration.slots.check(name);
  const leaseMs = parsePositiveDuration(distributedLease, `distributedLease of task '${name}'`);
  const target = typeof task === 'function' ? task : fileOf(task, maxRandomDelay);
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
  const job = integration.admitOne(declaration);
  integration.announce();
  warnOfSkippedDates(integration, [job]);
  const scheduled = schedule(expression, target, {
    name,
    distributed: true,
    runCoordinator: coordinator,
    distributedLease: leaseMs,
    ...taskOptions(options),
    ...defined({ noOverlap, startTimeout }),
  });
  coordinator.observe(scheduled);
  onDroppedTicks(scheduled, (ticks, error) => integration.dropTicks(job, ticks, error));
  if (typeof task === 'function') {
    guard.onClose({ stop: async () => await stopAndDestroy(scheduled) });
  } else {
    restartOnFailure(scheduled, guard);
    // Only after its tick has ended, because node-cron kills a process that is too busy to reply within 5 s. The closing
    // guard elects it for no more ticks.
    guard.onClose({ close: async () => await stopAndDestroy(scheduled) });
  }
  return scheduled;
}

/** node-cron never restarts the process of a file after it has ended or failed to start, so its ticks would stop. */
function restartOnFailure(task: ScheduledTask, guard: JobGuard): void {
  const { name } = task;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => clearTimeout(timer);
  const startIn = (delayMs: number, why: string): void => {
    cancel();
    if (guard.isClosing) return;
    integrationOf(guard).warn(`${why} cronlatch starts it again in ${delayMs / 1000} s.`);
    timer = setTimeout(start, delayMs).unref();
  };
  const start = (): void => {
    if (guard.isClosing) return;
    Promise.resolve(task.start()).catch((error: unknown) =>
      startIn(START_RETRY_DELAY_MS, `The process of task '${name}' could not be started: ${String(error)}.`),
    );
  };
  task.on('task:failed', ({ error }) =>
    startIn(RESTART_DELAY_MS, `The process of task '${name}' has ended: ${String(error)}.`),
  );
  for (const event of ['task:stopped', 'task:destroyed'] as const) task.on(event, cancel);
  start(); // node-cron is already starting it, and returns the promise of that start.
}

/**
 * Waits for the stop first: node-cron kills a stopped process, and could then wait forever for its reply to `destroy`. The
 * messages of a process can arrive until it has disconnected. On one that arrives after `destroy`, node-cron throws.
 */
async function stopAndDestroy(task: ScheduledTask): Promise<void> {
  const { forkProcess } = task as { readonly forkProcess?: ChildProcess };
  const isSilent = forkProcess?.connected ? once(forkProcess, 'disconnect') : undefined;
  await task.stop();
  await isSilent;
  await task.destroy();
}

function fileOf(file: string | URL, maxRandomDelay = 0): string {
  if (maxRandomDelay > 0) {
    throw new InvalidLockConfigurationError(
      `maxRandomDelay is ${maxRandomDelay}, but a file cannot have a random delay: node-cron elects the instance before the delay, and a process that is stopped during it cannot report that its tick did not run. Wait inside the task instead.`,
    );
  }
  if (typeof file !== 'string') return file.href;
  if (isAbsolute(file) || file.startsWith('file://')) return file;
  throw new InvalidLockConfigurationError(
    `${describeValue(file)} is not an absolute path. Pass one, for example require.resolve('./task') or new URL('./task.js', import.meta.url).`,
  );
}
