import { Redis } from 'ioredis';
import { schedule } from 'node-cron';
import { scheduleOf } from './slots';
import type { Door } from './door';
import { redisCoordinator } from './redis-coordinator';

/** node-cron's own `distributed: true`, as it is documented, with a Redis. */
export const openNodeCron: Door = async (orders, job) => {
  const { row, side, instance, redisUrl } = orders;
  const redis = new Redis(redisUrl);
  await redis.ping();
  const times = scheduleOf(row, side);
  return () =>
    schedule(times.expression, ({ date }) => job({ slotMs: times.slotAt(date.getTime()) }), {
      name: orders.job,
      timezone: 'UTC',
      distributed: true,
      runCoordinator: redisCoordinator(redis, instance),
      missedExecutionTolerance: row.everyS * 1000,
      ...(row.noOverlap === undefined ? {} : { noOverlap: row.noOverlap }),
      ...(row.maxRandomDelay === undefined ? {} : { maxRandomDelay: row.maxRandomDelay }),
    });
};
