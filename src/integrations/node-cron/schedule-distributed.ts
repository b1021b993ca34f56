import { isAbsolute } from 'node:path';
import { schedule, type ScheduledTask, type TaskFn } from 'node-cron';
import { InvalidLockConfigurationError, type Duration } from '../../core';
import { describeValue } from '../../core/describe-value';
import { parsePositiveDuration } from '../../core/duration';
import type { JobGuard } from '../../guard';
import { requireGuard } from '../../guard/configured-guard';
import { integrationOf } from '../../guard/job-guard';
import { checkSchedule, type ScheduleOptions } from './cron-schedule';
import { onDroppedTicks } from './dropped-ticks';
import { LedgerRunCoordinator } from './ledger-run-coordinator';
import type { ScheduleJobsOptions } from './schedule-jobs';
import { warnOfSkippedDates } from './skipped-dates';

const AGAIN_AFTER_MS = 1000;
/** When it could not be started: what it lacks may come back. */
const NEXT_TRY_AFTER_MS = 60_000;

export interface ScheduleDistributedOptions extends ScheduleJobsOptions, ScheduleOptions {
  /** The same on all instances, and no other task's or job's: with the instant it names a tick. */
  readonly name: string;
  /**
   * Longer than the job ever runs: after this time a run that has not ended counts as lost, its instance as dead.
   * Default 24 h; node-cron's own, 30 s, is not taken.
   */
  readonly distributedLease?: Duration | undefined;
  /** A tick that comes while this instance still runs the last one is dropped here; others may run it. Default false. */
  readonly noOverlap?: boolean | undefined;
  /** How long a file may take to be loaded in its process, in milliseconds. Default: node-cron's, 5 s. */
  readonly startTimeout?: number | undefined;
}

/**
 * A task in node-cron's distributed mode: each tick runs on one instance, elected by the ledger, on which its row says
 * what became of it. Others get node-cron's `execution:skipped`. `guard.close()` stops the task, waits for a tick that
 * runs, and for its outcome to be recorded.
 *
 * @param task a function, or a file that node-cron runs in a process of its own: its absolute path, or its URL
 * @throws InvalidLockConfigurationError for an expression, a zone, a name or a duration that cannot be meant, for a name
 * that another task has, and for a file with a relative path or a random delay
 * @throws InvalidLockUseError with a guard that is closed, and for the name of a job that runs once per period
 * @throws NotConfiguredError without any guard
 */
export function scheduleDistributed(
  expression: string,
  task: TaskFn | string | URL,
  options: ScheduleDistributedOptions,
): ScheduledTask {
  const guard = requireGuard(options.guard, 'scheduleDistributed');
  const { name, distributedLease = '24h', timeZone, maxRandomDelay } = options;
  checkSchedule({ ...options, expression });
  const integration = integrationOf(guard);
  integration.slots.check(name);
  const leaseMs = parsePositiveDuration(distributedLease, `distributedLease of task '${name}'`);
  const started = typeof task === 'function' ? task : fileOf(task, maxRandomDelay);
  const coordinator = new LedgerRunCoordinator({ guard });
  const declaration = {
    place: `scheduleDistributed('${expression}')`,
    configuration: { name, lockAtMostFor: leaseMs },
    call: () => () => undefined,
    schedules: [{ ...options, expression }],
  };
  const [job] = integration.admit([declaration]);
  warnOfSkippedDates(integration, [declaration]);
  const scheduled = schedule(expression, started, {
    name,
    distributed: true,
    runCoordinator: coordinator,
    distributedLease: leaseMs,
    ...(timeZone === undefined ? {} : { timezone: timeZone }),
    ...given(options, 'missedExecutionTolerance', 'maxRandomDelay', 'noOverlap', 'startTimeout'),
  });
  coordinator.observe(scheduled);
  onDroppedTicks(scheduled, (ticks, error) => integration.dropTicks(job, ticks, error));
  if (typeof task === 'function') {
    guard.onClose({ stop: async () => await end(scheduled) });
  } else {
    keepStarted(scheduled, guard);
    // When its tick is over: node-cron kills a process that computes, and so does not answer within 5 s. The guard has it
    // run nothing more meanwhile.
    guard.onClose({ close: async () => await end(scheduled) });
  }
  return scheduled;
}

/** node-cron leaves a file whose process has died, or could not be started, without one, and so without ticks, for good. */
function keepStarted(task: ScheduledTask, guard: JobGuard): void {
  const { name } = task;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => clearTimeout(timer);
  const startIn = (delayMs: number, why: string): void => {
    cancel();
    if (guard.isClosing) return;
    integrationOf(guard).warn(`${why} It is started again in ${delayMs / 1000} s.`);
    timer = setTimeout(start, delayMs).unref();
  };
  const start = (): void => {
    if (guard.isClosing) return;
    Promise.resolve(task.start()).catch((error: unknown) =>
      startIn(NEXT_TRY_AFTER_MS, `The process of task '${name}' could not be started: ${String(error)}.`),
    );
  };
  task.on('task:failed', ({ error }) =>
    startIn(AGAIN_AFTER_MS, `The process of task '${name}' has ended: ${String(error)}.`),
  );
  for (const event of ['task:stopped', 'task:destroyed'] as const) task.on(event, cancel);
  start(); // It is being started: this one hears how that ends.
}

/** node-cron kills a process that says it has stopped, and may then never hear that it was destroyed: one after the other. */
async function end(task: ScheduledTask): Promise<void> {
  await task.stop();
  await task.destroy();
}

function fileOf(file: string | URL, maxRandomDelay = 0): string {
  if (maxRandomDelay > 0) {
    throw new InvalidLockConfigurationError(
      `maxRandomDelay is ${maxRandomDelay} for a file: node-cron elects before the delay, and a process that is stopped in it cannot tell that its tick did not run. Wait inside the task instead.`,
    );
  }
  if (typeof file !== 'string') return file.href;
  if (isAbsolute(file) || file.startsWith('file://')) return file;
  throw new InvalidLockConfigurationError(
    `${describeValue(file)} is no absolute path: pass one, for example require.resolve('./task') or new URL('./task.js', import.meta.url).`,
  );
}

/** node-cron takes `undefined` for a value in places. */
function given<K extends keyof ScheduleDistributedOptions>(
  options: ScheduleDistributedOptions,
  ...keys: readonly K[]
): { [Key in K]?: NonNullable<ScheduleDistributedOptions[Key]> } {
  return Object.fromEntries(
    keys.filter((key) => options[key] !== undefined).map((key) => [key, options[key]]),
  ) as {
    [Key in K]?: NonNullable<ScheduleDistributedOptions[Key]>;
  };
}
