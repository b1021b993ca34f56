/**
 * Effects that happen exactly once: they are committed together with the completion of the run, or not at all. If the
 * process is killed before that, the next attempt repeats the work, and nothing is paid twice.
 *
 * Run: npm run example exactly-once-effects
 * Prints:
 *   cronlatch … guards 1 job on …: pay-out ….
 *   paying …, attempt 1
 *   paid
 *   cronlatch … run:completed: job 'pay-out' for … completed in … (attempt 1, scheduled at …).
 * If you end it with kill -9 while it pays, and start it again, it prints:
 *   cronlatch … guards 1 job on …: pay-out ….
 *   paying …, attempt 2
 *   …
 *   paid
 */
import { setTimeout } from 'node:timers/promises';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class PayoutJobs {
  @Scheduled('*/3 * * * * *', { timeZone: 'Europe/Paris' }) // Nightly: '0 3 * * *'.
  @SchedulerLock({ name: 'pay-out', lockAtMostFor: '5s', keepAlive: true })
  @OncePerDay()
  async payOut(): Promise<void> {
    const { businessDate, attempt } = currentRun();
    console.log(`paying ${businessDate}, attempt ${attempt}`);
    // A bank or a mail server is not part of the transaction. It recognises a repeated request by its key:
    // await bank.transfer({ amount: 100, idempotencyKey: currentRun().idempotencyKey });
    await setTimeout(2000);
    await inRunTransaction(async (manager) => {
      const payout = { business_date: businessDate, amount: 100 };
      await manager.createQueryBuilder().insert().into('payout').values(payout).execute();
    });
    console.log('paid');
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the tables of the locks and of the ledger.
  await dataSource.query('CREATE TABLE IF NOT EXISTS payout (business_date VARCHAR(10), amount INT)');
  const guard = await createJobGuard(dataSource);
  scheduleJobs(new PayoutJobs(), { guard });
  guard.closeOnSignals();
}

void main();
