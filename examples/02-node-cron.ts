/**
 * Jobs on a schedule, with node-cron. Start this in as many terminals as you like: each second is billed once.
 */
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class BillingJobs {
  // Every second, so that you can watch it. Nightly: '0 3 * * *', { timeZone: 'Europe/Paris' }.
  @Scheduled('* * * * * *')
  @SchedulerLock('send-invoices', '30s', '500ms')
  async sendInvoices(): Promise<void> {
    console.log('sending invoices');
    await Promise.resolve(); // The work.
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  const guard = await createJobGuard(dataSource);

  let ticks = 0;
  const threeTicks = new Promise<void>((resolve) => {
    const tick = (): void => {
      ticks += 1;
      if (ticks === 3) resolve();
    };
    guard.on('run:completed', tick);
    guard.on('lock:skipped', ({ reason }) => {
      console.log('skipped:', reason); // In this process; another one is sending them.
      tick();
    });
  });

  scheduleJobs(new BillingJobs(), { guard });
  guard.closeOnSignals(); // On SIGTERM: no new run starts, current runs may end, and their locks are released.

  // A real application runs forever; this one stops after three ticks.
  await threeTicks;
  await guard.close();
  await dataSource.destroy();
  console.log('closed');
}

void main();
