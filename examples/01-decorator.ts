/**
 * A method that runs on one server at a time. Decorate it, and configure once which database holds the locks.
 *
 * In production the two calls come from two servers at the same scheduled time. Run this again within 30
 * seconds, and every call is skipped.
 */
import { configureJobGuard, SchedulerLock } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class Accounts {
  // Name, lockAtMostFor, lockAtLeastFor. If this process dies, another instance may close the day after 10
  // minutes. However fast the job is, no instance closes the day again within 30 seconds.
  @SchedulerLock('close-day', '10m', '30s')
  async closeDay(caller: string): Promise<string | undefined> {
    console.log(`closing the day, called by ${caller}`);
    await Promise.resolve(); // The work.
    return 'closed';
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  const guard = await createJobGuard(dataSource);
  configureJobGuard(guard);

  const accounts = new Accounts();
  const [first, second] = await Promise.all([
    accounts.closeDay('the first'),
    accounts.closeDay('the second'),
  ]);
  console.log('the first call:', first ?? 'skipped');
  console.log('the second call:', second ?? 'skipped');

  // The work is done, but 30 seconds have not passed: a server with a slow clock is skipped.
  console.log('a late call:', (await accounts.closeDay('a latecomer')) ?? 'skipped');

  await guard.close();
  await dataSource.destroy();
}

void main();
