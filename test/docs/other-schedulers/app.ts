import { createJobGuard } from 'cronlatch/typeorm';
import { closeTheDay } from './close-the-day';
import { scheduleWithCroner } from './croner';
import dataSource from './ormconfig';

/** @returns a function that stops the application */
export async function start(): Promise<() => Promise<void>> {
  await dataSource.initialize();
  const guard = await createJobGuard(dataSource);
  const cron = scheduleWithCroner(guard, {
    expression: '0 3 * * *',
    timeZone: 'Europe/Paris',
    guarded: {
      name: 'close-day',
      lockAtMostFor: '1m',
      keepAlive: true,
      oncePer: { period: 'day', timeZone: 'Europe/Paris' },
    },
    run: closeTheDay,
  });
  return async () => {
    cron.stop();
    await guard.close();
    await dataSource.destroy();
  };
}
