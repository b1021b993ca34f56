import { schedule, type ScheduledTask } from 'node-cron';
import { work } from './job';
import type { Reporter } from './reporter';
import { EVERY_TICK } from './settings';

/** The same job with node-cron alone: what `--without-lock` shows. */
export function scheduleUnguarded(reporter: Reporter): ScheduledTask[] {
  return [schedule(EVERY_TICK, ({ date }) => work(date, reporter))];
}
