import { CronJob, CronTime } from 'cron';
import type { JobGuard } from 'cronlatch';
import type { Job } from './job';

/** cron does not tell when a tick was due, nor looks back: so this walks along with the ticks. */
function dueInstants(expression: string, timeZone: string): () => Date | undefined {
  const time = new CronTime(expression, timeZone);
  const after = (at: Date): Date => time.getNextDateFrom(at, timeZone).toJSDate();
  const beginning = new Date();
  let due: Date | undefined;
  return () => {
    for (let next = after(due ?? beginning); next <= new Date(); next = after(next)) due = next;
    return due;
  };
}

export function scheduleWithCron(guard: JobGuard, { expression, timeZone, guarded, run }: Job): CronJob {
  const tick = guard.wrap(guarded, run, { scheduledAt: dueInstants(expression, timeZone) });
  return CronJob.from({ cronTime: expression, timeZone, onTick: () => tick(), start: true });
}
