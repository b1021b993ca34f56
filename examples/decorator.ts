/**
 * A decorated method runs on one instance at a time, no matter what calls it: a request, a scheduler, a script.
 *
 * Run: npm run example decorator
 * Prints:
 *   refreshing the prices
 *   cronlatch … run:completed: job 'refresh-prices' completed in ….
 *   result: refreshed
 * Run it again within 30 seconds, or at the same time in another terminal. Prints:
 *   result: skipped
 */
import { configureJobGuard, SchedulerLock } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class Prices {
  // Name, lockAtMostFor, lockAtLeastFor. If this process dies, another one may refresh the prices after 10 minutes.
  // However fast the job is, no process refreshes them again within 30 seconds.
  @SchedulerLock('refresh-prices', '10m', '30s')
  async refresh(): Promise<string | undefined> {
    console.log('refreshing the prices');
    return await Promise.resolve('refreshed'); // The work.
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  const guard = await createJobGuard(dataSource);
  configureJobGuard(guard); // Once, at startup: the guard of all decorated methods.

  console.log('result:', (await new Prices().refresh()) ?? 'skipped');

  await guard.close();
  await dataSource.destroy();
}

void main();
