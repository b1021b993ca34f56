/**
 * A long job with a short `lockAtMostFor`: the guard renews the lock while the job runs. If its process dies, another
 * instance starts the job three seconds later, however long it would have run.
 *
 * Run, in two terminals: npm run example keep-alive
 * Prints, in one of the terminals:
 *   cronlatch … guards 1 job on …: export-orders ….
 *   process … exports part 1 of 5
 *   process … exports part 2 of 5
 *   …
 *   process … exports part 5 of 5
 *   cronlatch … run:completed: job 'export-orders' completed in … (scheduled at …).
 * End that process in the middle, with kill -9 and its number. The other terminal prints:
 *   process … exports part 1 of 5
 */
import { setTimeout } from 'node:timers/promises';
import { currentLock, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class ExportJobs {
  @Scheduled('* * * * * *') // Every second, so that you can watch it.
  @SchedulerLock({ name: 'export-orders', lockAtMostFor: '3s', keepAlive: true }) // '30s' is short enough.
  async exportOrders(): Promise<void> {
    for (let part = 1; part <= 5; part += 1) {
      currentLock()?.signal.throwIfAborted(); // The lock is lost, or the guard is closing: stop.
      console.log(`process ${process.pid} exports part ${part} of 5`);
      await setTimeout(1000); // The work.
    }
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  const guard = await createJobGuard(dataSource);
  scheduleJobs(new ExportJobs(), { guard });
  guard.closeOnSignals();
}

void main();
