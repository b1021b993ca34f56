/**
 * A method that runs in one place at a time. Decorate it, and tell cronlatch once which database holds the locks.
 *
 * In production the two calls come from two servers whose clocks strike together. Run it again within 30 seconds, and
 * every call is skipped.
 */
import { configureJobGuard, SchedulerLock } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class Accounts {
  // Name, at most, at least. If this process dies, others may close the day after 10 minutes; and however quickly
  // the day is closed, nobody closes it again within 30 seconds.
  @SchedulerLock('close-day', '10m', '30s')
  async closeDay(caller: string): Promise<string | undefined> {
    console.log(`closing the day, as ${caller} asked`);
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

  // The work is done, but 30 seconds are not over: a server with a slow clock finds the day closed.
  console.log('a late call:', (await accounts.closeDay('a latecomer')) ?? 'skipped');

  await guard.close();
  await dataSource.destroy();
}

void main();
