/**
 * Effects that happen exactly once, even if a run was considered dead and was not: they are committed
 * together with the completion of the run, or not at all.
 */
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class PayoutJobs {
  constructor(private readonly beforePaying: () => Promise<void>) {}

  @Scheduled('0 6 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'pay-out', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay()
  async payOut(): Promise<string | undefined> {
    const { businessDate, generation, idempotencyKey } = currentRun();
    if (generation === 0) await this.beforePaying();
    const paid = await inRunTransaction(async (manager) => {
      const payout = { business_date: businessDate, amount: 100 };
      await manager.createQueryBuilder().insert().into('example_payout').values(payout).execute();
      return 'paid';
    });
    // Only writes to this database happen exactly once. A bank or a mail server recognises a repeated request
    // by its key: await bank.transfer({ amount: 100, idempotencyKey });
    console.log('has an idempotency key:', idempotencyKey.startsWith('pay-out/'));
    return paid;
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table and those of the ledger.
  await dataSource.query('DROP TABLE IF EXISTS example_payout');
  await dataSource.query('CREATE TABLE example_payout (business_date VARCHAR(10), amount INT)');
  const guard = await createJobGuard(dataSource, { logger: false });

  // During the first run, an operator considers it dead and reruns the day.
  const jobs = new PayoutJobs(async () => {
    const { job, periodKey } = currentRun();
    const why = { actor: 'ops', reason: 'it seems to hang', force: true };
    const { generation } = await guard.ledger.rerun({ job, periodKey }, why);
    console.log('the day will run again, as generation', generation);
  });
  scheduleJobs(jobs, { guard });

  await jobs
    .payOut()
    .catch(({ name }: Error) => console.log(`the first run: ${name}, its writes are rolled back`));
  console.log('the second run:', (await jobs.payOut()) ?? 'skipped');
  console.log('a third call:', (await jobs.payOut()) ?? 'skipped');
  const payouts = await dataSource.query<unknown[]>('SELECT amount FROM example_payout');
  console.log('payouts:', payouts.length);

  await guard.close();
  await dataSource.destroy();
}

void main();
