import { createTask, schedule, validateDetailed, type ScheduledTask, type TaskContext } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import { LONGEST_TIMER_MS } from '../../core/clock';
import { describeValue } from '../../core/describe-value';

export interface ScheduleOptions {
  /** The IANA zone that the expression is read in. Default: that of the host. */
  readonly timeZone?: string | undefined;
  /**
   * node-cron drops a tick that is later than this, in milliseconds; it counts whole seconds, rounded down. Default:
   * node-cron's, 1 s.
   */
  readonly missedExecutionTolerance?: number | undefined;
  /**
   * node-cron starts a tick up to this much later, in milliseconds, by a delay that it draws each time; so many jobs of
   * one minute do not meet the database at once. The lock is asked for after the delay: a task that is stopped in it
   * takes nothing from other instances. (`scheduleDistributed` elects before it, as node-cron does.) Default 0, at most
   * 2,147,483,647, which is 24.8 days.
   */
  readonly maxRandomDelay?: number | undefined;
}

export interface CronSchedule extends ScheduleOptions {
  readonly expression: string;
}

/** @throws InvalidLockConfigurationError naming the expression, the zone, the tolerance or the delay */
export function checkSchedule(schedule: CronSchedule): void {
  const { expression, timeZone, missedExecutionTolerance, maxRandomDelay } = schedule;
  // node-cron's own spelling: left out, the job would run by the host's zone.
  if ('timezone' in schedule) throw new InvalidLockConfigurationError('Write timeZone, not timezone.');
  const { valid, errors } = validateDetailed(expression);
  if (!valid) {
    const why = errors.map(({ message }) => message).join('; ');
    throw new InvalidLockConfigurationError(`${describeValue(expression)} is not a cron expression: ${why}.`);
  }
  if (timeZone !== undefined) checkTimeZone(timeZone);
  checkThatItComes(expression);
  checkMilliseconds(missedExecutionTolerance, 'missedExecutionTolerance');
  checkMilliseconds(maxRandomDelay, 'maxRandomDelay');
  if (maxRandomDelay === undefined || maxRandomDelay <= LONGEST_TIMER_MS) return;
  throw new InvalidLockConfigurationError(
    `maxRandomDelay is ${maxRandomDelay}: no timer waits longer than ${LONGEST_TIMER_MS} milliseconds.`,
  );
}

function checkMilliseconds(value: number | undefined, option: string): void {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return;
  throw new InvalidLockConfigurationError(
    `${option} is ${describeValue(value)}: it must be a number of milliseconds, not below 0.`,
  );
}

/** node-cron also takes offsets such as '+02:00', which the ledger refuses: they have no clock changes. */
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

/** @param run receives the scheduled time; `undefined` for a call by hand, whose date is the host's own */
export function scheduleTask(
  { expression, timeZone, missedExecutionTolerance, maxRandomDelay }: CronSchedule,
  name: string,
  run: (scheduledAt: Date | undefined) => Promise<unknown>,
): ScheduledTask {
  return schedule(expression, (context) => run(scheduledTimeOf(context)), {
    name,
    ...(timeZone === undefined ? {} : { timezone: timeZone }),
    ...(missedExecutionTolerance === undefined ? {} : { missedExecutionTolerance }),
    ...(maxRandomDelay === undefined ? {} : { maxRandomDelay }),
  });
}

function scheduledTimeOf({ date, execution }: TaskContext): Date | undefined {
  return execution?.reason === 'invoked' ? undefined : date;
}
