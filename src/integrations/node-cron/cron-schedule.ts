import { createTask, validateDetailed } from 'node-cron';
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

/** A declared schedule with what only node-cron reads. */
export interface CronSchedule extends ScheduleOptions {
  readonly expression: string;
  readonly dialect: 'node-cron';
}

const OPTIONS = ['timeZone', 'missedExecutionTolerance', 'maxRandomDelay'];

/** @throws InvalidLockConfigurationError naming the expression, the zone, the tolerance, the delay or an unknown option */
export function checkedSchedule(
  expression: string,
  options: ScheduleOptions,
  others: readonly string[] = [],
): CronSchedule {
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
  if (maxRandomDelay === undefined || maxRandomDelay <= LONGEST_TIMER_MS)
    return { timeZone, missedExecutionTolerance, maxRandomDelay, expression, dialect: 'node-cron' };
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

/** To ask Intl takes longer than all other checks of a schedule. */
const knownZones = new Set<string>();

/** node-cron also takes offsets such as '+02:00', which the ledger refuses: they have no clock changes. */
function checkTimeZone(timeZone: string): void {
  if (knownZones.has(timeZone)) return;
  callOption(
    () => new Intl.DateTimeFormat('en', { timeZone }),
    `timeZone is ${describeValue(timeZone)}, which is not an IANA time zone, such as 'Europe/Paris'.`,
  );
  knownZones.add(timeZone);
}

/** node-cron accepts '0 0 30W 2 *' as valid, but fails when its task starts. */
function checkEverFires(expression: string): void {
  // Without a day of the month, some date of each matching month has the weekday.
  if (expression.trim().split(/\s+/).at(-3) === '*') return;
  const task = createTask(expression, () => undefined);
  try {
    const failed = `The cron expression ${describeValue(expression)} never fires: no date matches it.`;
    callOption(() => task.getNextRuns(1), failed);
  } finally {
    void task.destroy();
  }
}
