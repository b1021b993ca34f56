/**
 * A job that runs once per business day. After its first successful run, every other call for that day is
 * skipped: by other instances, by later ticks and after a restart. A lock alone cannot do that. Run this
 * again on the same day, and every call is skipped.
 */
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class BillingJobs {
  // The business day is in the time zone of the schedule; the host's time zone and clock do not matter.
  @Scheduled('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'close-day', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay()
  async closeDay(): Promise<string | undefined> {
    const { attempt } = currentRun(); // Also businessDate, periodKey, scheduledAt, signal, …
    console.log(`closing the day, attempt ${attempt}`);
    await Promise.resolve(); // The work.
    return 'closed';
  }
}

/** What an instance does after its start; its tick is called at once. */
async function instance(name: string): Promise<void> {
  const guard = await createJobGuard(dataSource);
  guard.on('run:skipped', ({ reason }) => console.log(`${name} is skipped: ${reason}`));
  const jobs = new BillingJobs();
  scheduleJobs(jobs, { guard });
  console.log(`${name}: ${(await jobs.closeDay()) ?? 'skipped'}`);

  const run = await guard.ledger.last('close-day');
  console.log(`the ledger: ${run?.state}, attempts ${run?.attempt}, result ${run?.result}`);
  await guard.close();
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table and those of the ledger.
  await instance('the first instance');
  await instance('another one, an hour later');
  await dataSource.destroy();
}

void main();
