import { once } from 'node:events';
import { SchedulerLock } from 'cronlatch';
import { Scheduled } from 'cronlatch/node-cron';

/** A job that ends when the test sends a message. */
export class BillingJobs {
  @Scheduled('* * * * * *')
  @SchedulerLock('close-day', '1m')
  async closeDay(): Promise<void> {
    process.send?.('in the job');
    await once(process, 'message');
  }
}
