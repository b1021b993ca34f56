/**
 * Decorated methods on a schedule, with node-cron: at each tick, one instance runs the job.
 *
 * Run, in two terminals: npm run example node-cron
 * Prints at its start, and at each tick in one of the terminals:
 *   cronlatch … guards 1 job on …: send-invoices ….
 *   sending invoices
 *   cronlatch … run:completed: job 'send-invoices' completed in … (scheduled at …).
 */
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class BillingJobs {
  // Every two seconds, so that you can watch it. Nightly: '0 3 * * *', { timeZone: 'Europe/Paris' }.
  @Scheduled('*/2 * * * * *')
  @SchedulerLock('send-invoices', '30s', '1s')
  async sendInvoices(): Promise<void> {
    console.log('sending invoices');
    await Promise.resolve(); // The work.
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  const guard = await createJobGuard(dataSource);
  scheduleJobs(new BillingJobs(), { guard });
  guard.closeOnSignals(); // On SIGTERM or Ctrl-C, no run starts, running jobs may end, and their locks are released.
}

void main();
