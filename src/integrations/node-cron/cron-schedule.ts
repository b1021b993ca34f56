import { createTask, schedule, validateDetailed, type ScheduledTask, type TaskContext } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import { describeValue } from '../../core/describe-value';

export interface ScheduleOptions {
  /** The IANA zone that the expression is read in. Default: that of the host. */
  readonly timeZone?: string | undefined;
  /**
   * node-cron drops a tick that is later than this, in milliseconds; it counts whole seconds, rounded down. Default:
   * node-cron's, 1 s.
   */
  readonly missedExecutionTolerance?: number | undefined;
}

export interface CronSchedule extends ScheduleOptions {
  readonly expression: string;
}

/** @throws InvalidLockConfigurationError naming the expression, the zone or the tolerance */
export function checkSchedule(schedule: CronSchedule): void {
  const { expression, timeZone, missedExecutionTolerance = 0 } = schedule;
  // node-cron's own spelling: left out, the job would run by the host's zone.
  if ('timezone' in schedule) throw new InvalidLockConfigurationError('Write timeZone, not timezone.');
  const { valid, errors } = validateDetailed(expression);
  if (!valid) {
    const why = errors.map(({ message }) => message).join('; ');
    throw new InvalidLockConfigurationError(`${describeValue(expression)} is not a cron expression: ${why}.`);
  }
  if (timeZone !== undefined) checkTimeZone(timeZone);
  checkThatItComes(expression);
  if (missedExecutionTolerance >= 0) return;
  throw new InvalidLockConfigurationError(
    `missedExecutionTolerance is ${describeValue(missedExecutionTolerance)}: it must be a number of milliseconds, not below 0.`,
  );
}

function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
  } catch (cause) {
    throw new InvalidLockConfigurationError(
      `timeZone is ${describeValue(timeZone)}, which is not an IANA time zone.`,
      { cause },
    );
  }
}

/** node-cron takes '0 0 30W 2 *' for valid, and fails when its task is started. */
function checkThatItComes(expression: string): void {
  const task = createTask(expression, () => undefined);
  try {
    task.getNextRuns(1);
  } catch (cause) {
    throw new InvalidLockConfigurationError(
      `${describeValue(expression)} is a cron expression that no date matches.`,
      { cause },
    );
  } finally {
    void task.destroy();
  }
}

/** @param run is told the instant that was meant, or `undefined` for a call by hand, whose date is the host's own */
export function scheduleTask(
  { expression, timeZone, missedExecutionTolerance }: CronSchedule,
  name: string,
  run: (scheduledAt: Date | undefined) => Promise<unknown>,
): ScheduledTask {
  return schedule(expression, (context) => run(scheduledInstant(context)), {
    name,
    ...(timeZone === undefined ? {} : { timezone: timeZone }),
    ...(missedExecutionTolerance === undefined ? {} : { missedExecutionTolerance }),
  });
}

function scheduledInstant({ date, execution }: TaskContext): Date | undefined {
  return execution?.reason === 'invoked' ? undefined : date;
}
