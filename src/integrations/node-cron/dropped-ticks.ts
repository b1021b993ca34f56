import type { ScheduledTask } from 'node-cron';
import { CronlatchError } from '../../core';
import type { Calls } from '../../guard/calls/calls';
import type { AdmittedJob } from '../../guard/jobs/job';

/**
 * Reports the ticks that node-cron drops because the event loop was blocked, or the machine suspended, for longer than
 * the task tolerates: once for all ticks of one stall.
 */
export function reportDroppedTicks(task: ScheduledTask, calls: Calls, job: AdmittedJob): void {
  let ticks: Date[] = [];
  const reportAll = (): void => {
    const dropped = ticks;
    ticks = [];
    calls.dropTicks(job, dropped, new CronlatchError(describe(dropped)));
  };
  task.on('execution:missed', ({ date }) => {
    if (ticks.push(date) === 1) queueMicrotask(reportAll);
  });
}

function describe(ticks: readonly Date[]): string {
  const [first, last] = [ticks[0], ticks.at(-1)].map((tick) => tick?.toISOString());
  const what = ticks.length === 1 ? 'this tick' : `${ticks.length} ticks from ${first} to ${last}`;
  return `node-cron dropped ${what}: the process was blocked or suspended for longer than missedExecutionTolerance.`;
}
