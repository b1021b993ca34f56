/**
 * A job that runs once per business day. After its first successful run, every other call for that day is skipped: by
 * other instances, by later ticks and after a restart. A lock alone cannot do that.
 *
 * Run: npm run example once-per-business-day
 * Prints:
 *   cronlatch … guards 1 job on …: close-day ….
 *   closing …, attempt 1
 *   cronlatch … run:completed: job 'close-day' for … completed in … (attempt 1, scheduled at …).
 *   skipped: already-completed
 * Run it again on the same day. Prints:
 *   cronlatch … guards 1 job on …: close-day ….
 *   skipped: already-completed
 */
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class BillingJobs {
  // Every three seconds, so that you can watch it. Nightly: '0 3 * * *'. The business day is in this time zone.
  @Scheduled('*/3 * * * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'close-day', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay()
  async closeDay(): Promise<void> {
    const { businessDate, attempt } = currentRun(); // Also scheduledAt, signal, idempotencyKey and others.
    console.log(`closing ${businessDate}, attempt ${attempt}`);
    await Promise.resolve(); // The work.
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the tables of the locks and of the ledger.
  const guard = await createJobGuard(dataSource);
  guard.on('run:skipped', ({ reason }) => console.log('skipped:', reason));
  scheduleJobs(new BillingJobs(), { guard });
  guard.closeOnSignals();
}

void main();
