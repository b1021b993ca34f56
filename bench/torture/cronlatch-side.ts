import { currentRun } from 'cronlatch';
import { scheduleLocked } from 'cronlatch/node-cron';
import { openGuard } from '../contenders/guards';
import { scheduleOf } from './slots';
import type { Door } from './door';

/** One configuration for all rows: every tick is its own period, which runs once, even if it is late. */
export const openCronlatch: Door = async (orders, job) => {
  const { row, side, options } = orders;
  const guard = await openGuard(options, { pollInterval: '1s' });
  const times = scheduleOf(row, side);
  const configuration = {
    name: orders.job,
    lockAtMostFor: '5s',
    keepAlive: true,
    oncePer: {
      period: (at: Date) => new Date(times.slotAt(at.getTime())).toISOString(),
      timeZone: 'UTC',
      catchUp: 'all' as const,
      retry: { maxAttempts: 5, initialDelay: '1s' },
    },
  };
  return () =>
    scheduleLocked(
      times.expression,
      configuration,
      () => job({ slotMs: Date.parse(currentRun().periodKey), signal: currentRun().signal }),
      {
        guard,
        timeZone: 'UTC',
        missedExecutionTolerance: row.everyS * 1000,
        maxRandomDelay: row.maxRandomDelay,
      },
    );
};
