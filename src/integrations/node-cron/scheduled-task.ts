import { schedule, type ScheduledTask, type TaskFn, type TaskOptions } from 'node-cron';
import { CronlatchError } from '../../core';
import type { Calls } from '../../guard/calls/calls';
import type { AdmittedJob } from '../../guard/jobs/job';
import type { CronSchedule } from './cron-schedule';

interface TaskSchedule extends CronSchedule, Pick<TaskOptions, 'distributed' | 'runCoordinator'> {
  readonly name: string;
}

/**
 * Creates the task of a job. Reports the ticks that node-cron drops because the event loop was blocked, or the machine
 * suspended, for longer than the task tolerates: once for all ticks of one stall.
 */
export function scheduleTask(
  calls: Calls,
  job: AdmittedJob,
  cron: TaskSchedule,
  onTick: TaskFn,
): ScheduledTask {
  const { expression, dialect: _, timeZone: timezone, ...others } = cron;
  // node-cron treats some options that are `undefined` as set.
  const options = Object.entries({ timezone, ...others }).filter(([, value]) => value !== undefined);
  const task = schedule(expression, onTick, Object.fromEntries(options) as TaskOptions);
  let ticks: Date[] = [];
  const reportAll = (): void => {
    const dropped = ticks;
    ticks = [];
    calls.dropTicks(job, dropped, new CronlatchError(describe(dropped)));
  };
  task.on('execution:missed', ({ date }) => {
    if (ticks.push(date) === 1) queueMicrotask(reportAll);
  });
  return task;
}

function describe(ticks: readonly Date[]): string {
  const [first, last] = [ticks[0], ticks.at(-1)].map((tick) => tick?.toISOString());
  const what = ticks.length === 1 ? 'this tick' : `${ticks.length} ticks from ${first} to ${last}`;
  return `node-cron dropped ${what}: the process was blocked or suspended for longer than missedExecutionTolerance.`;
}
