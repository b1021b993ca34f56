import { createTask, parse, validateDetailed, type TaskOptions } from 'node-cron';
import { InvalidLockConfigurationError } from '../../core';
import { callOption, checkOptionNames, describeValue } from '../../core/options';
import { LONGEST_TIMER_MS } from '../../core/clock';

export interface ScheduleOptions {
  /** The IANA time zone of the expression, for example `'Europe/Paris'`. Default: the host's time zone. */
  readonly timeZone?: string | undefined;
  /**
   * node-cron drops a tick that is later than this, in milliseconds. It counts whole seconds, rounded down. Default:
   * 1000, as in node-cron.
   */
  readonly missedExecutionTolerance?: number | undefined;
  /**
   * node-cron delays each tick by a random time of up to this many milliseconds, so that many jobs of one minute do not
   * query the database at once. The job asks for its lock after the delay, so a task that is stopped during it blocks no
   * other instance. (With `scheduleDistributed`, node-cron elects the instance before the delay.) Default 0, at most
   * 2,147,483,647 (24.8 days).
   */
  readonly maxRandomDelay?: number | undefined;
}

export interface CronSchedule extends ScheduleOptions {
  readonly expression: string;
}

const OPTIONS = ['timeZone', 'missedExecutionTolerance', 'maxRandomDelay'];

/**
 * @throws InvalidLockConfigurationError naming the expression, the zone, the tolerance, the delay or an unknown option
 */
export function checkSchedule(schedule: CronSchedule, others: readonly string[] = []): void {
  const { expression, ...options } = schedule;
  const { timeZone, missedExecutionTolerance, maxRandomDelay } = options;
  // With node-cron's spelling 'timezone', the job would run in the host's time zone.
  checkOptionNames(options, [...OPTIONS, ...others], `schedule '${expression}'`);
  const { valid, errors } = validateDetailed(expression);
  if (!valid) {
    const why = errors.map(({ message }) => message).join('; ');
    throw new InvalidLockConfigurationError(`${describeValue(expression)} is not a cron expression: ${why}.`);
  }
  if (timeZone !== undefined) checkTimeZone(timeZone);
  checkEverFires(expression);
  checkMilliseconds(missedExecutionTolerance, 'missedExecutionTolerance');
  checkMilliseconds(maxRandomDelay, 'maxRandomDelay');
  if (maxRandomDelay === undefined || maxRandomDelay <= LONGEST_TIMER_MS) return;
  throw new InvalidLockConfigurationError(
    `maxRandomDelay is ${maxRandomDelay}. A timer cannot wait longer than ${LONGEST_TIMER_MS} milliseconds.`,
  );
}

function checkMilliseconds(value: number | undefined, option: string): void {
  if (value === undefined || (typeof value === 'number' && value >= 0)) return;
  throw new InvalidLockConfigurationError(
    `${option} is ${describeValue(value)}. It must be a number of milliseconds that is not negative.`,
  );
}

/** node-cron also takes offsets such as '+02:00', which the ledger refuses: they have no clock changes. */
function checkTimeZone(timeZone: string): void {
  callOption(
    () => new Intl.DateTimeFormat('en', { timeZone }),
    `timeZone is ${describeValue(timeZone)}, which is not an IANA time zone, such as 'Europe/Paris'.`,
  );
}

/** node-cron accepts '0 0 30W 2 *' as valid, but fails when its task starts. */
function checkEverFires(expression: string): void {
  const task = createTask(expression, () => undefined);
  try {
    const failed = `The cron expression ${describeValue(expression)} never fires: no date matches it.`;
    callOption(() => task.getNextRuns(1), failed);
  } finally {
    void task.destroy();
  }
}

/** Further back, no time is searched for: the newer ticks of such a job have been answered, or also wait. */
const MOST_STEPS = 10_000;
/** In every time zone, all times of a quarter of an hour are in the same hour. */
const QUARTER_MS = 900_000;

/** Finds the next scheduled time after an instant. node-cron itself only computes times from now on. */
export function nextTimeOf(schedules: readonly CronSchedule[]): (after: Date) => Date | undefined {
  return (after) => {
    const times = schedules.map((schedule) => nextTime(schedule, after.getTime()));
    const earliestMs = Math.min(...times.map((time) => time?.getTime() ?? Infinity));
    return earliestMs === Infinity ? undefined : new Date(earliestMs);
  };
}

function nextTime({ expression, timeZone }: CronSchedule, afterMs: number): Date | undefined {
  const options = timeZone === undefined ? {} : { timezone: timeZone };
  const task = createTask(expression, () => undefined, options);
  // Matches every second of the hours in which the schedule has a time.
  const { second, hour, dayOfMonth, month, dayOfWeek } = parse(expression);
  const hours = createTask(
    ['*', '*', hour, dayOfMonth, month, dayOfWeek].join(' '),
    () => undefined,
    options,
  );
  try {
    const stepMs = second.length === 1 ? 60_000 : 1000;
    const phaseMs = second.length === 1 ? (second[0] ?? 0) * 1000 : 0;
    const firstMs = Math.floor((afterMs - phaseMs) / stepMs + 1) * stepMs + phaseMs;
    const endMs = Math.min(Date.now(), firstMs + MOST_STEPS * stepMs);
    for (let atMs = firstMs; atMs <= endMs;) {
      const at = new Date(atMs);
      const isInHour = hours.match(at);
      if (isInHour && task.match(at)) return at;
      const skippedMs = isInHour ? stepMs : QUARTER_MS - (atMs % QUARTER_MS);
      atMs += Math.ceil(skippedMs / stepMs) * stepMs;
    }
    return task.getNextRuns(2).find((time) => time.getTime() > afterMs);
  } finally {
    void task.destroy();
    void hours.destroy();
  }
}

/** The options of a schedule for node-cron, which treats some that are `undefined` as set. */
export function taskOptions(options: ScheduleOptions): TaskOptions {
  const { timeZone: timezone, missedExecutionTolerance, maxRandomDelay } = options;
  const all = { timezone, missedExecutionTolerance, maxRandomDelay };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
