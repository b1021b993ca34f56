import { CronJob, CronTime } from 'cron';
import type { JobGuard } from 'cronlatch';
import type { Job } from './job';

/** cron passes no scheduled time and cannot look back, so this calculates the times tick by tick. */
function scheduledTimes(expression: string, timeZone: string): () => Date | undefined {
  const time = new CronTime(expression, timeZone);
  const after = (at: Date): Date => time.getNextDateFrom(at, timeZone).toJSDate();
  const beginning = new Date();
  let last: Date | undefined;
  return () => {
    for (let next = after(last ?? beginning); next <= new Date(); next = after(next)) last = next;
    return last;
  };
}

export function scheduleWithCron(guard: JobGuard, { expression, timeZone, guarded, run }: Job): CronJob {
  const schedule = { expression, timeZone, dialect: 'cron' } as const;
  const tick = guard.wrap(guarded, run, { scheduledAt: scheduledTimes(expression, timeZone), schedule });
  return CronJob.from({ cronTime: expression, timeZone, onTick: () => tick(), start: true });
}
