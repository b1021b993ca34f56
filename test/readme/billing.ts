import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from './ormconfig.js';

class BillingJobs {
  @Scheduled('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('close-day', '10m', '30s') // name, lockAtMostFor, lockAtLeastFor
  async closeDay(): Promise<void> {
    await dataSource.query('SELECT 1'); // Runs on one instance. The others skip this tick.
  }
}

void dataSource.initialize().then(async () => {
  const guard = await createJobGuard(dataSource); // Checks the lock table, opens two connections of its own.
  scheduleJobs(new BillingJobs(), { guard });
  guard.closeOnSignals(); // SIGTERM: start nothing, wait for running jobs, release, close.
});
