/**
 * The distributed mode of node-cron, with the run ledger as its coordinator: at each tick, one instance is elected to
 * run the job, and a run keeps the outcome.
 *
 * Run, in two terminals: npm run example node-cron-coordinator
 * Prints at its start, and at each tick in one of the terminals:
 *   cronlatch … guards 1 job on …: sync-stock ….
 *   syncing the stock
 *   cronlatch … run:completed: job 'sync-stock' for … completed in … (attempt 1, scheduled at …).
 * The other terminal prints:
 *   skipped: not-elected
 */
import { scheduleDistributed } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

function syncStock(): string {
  console.log('syncing the stock'); // The work.
  return 'in sync'; // Stored in the run.
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the tables of the locks and of the ledger.
  const guard = await createJobGuard(dataSource);
  // Every two seconds, so that you can watch it. Nightly: '0 3 * * *' with timeZone: 'Europe/Paris'.
  const task = scheduleDistributed('*/2 * * * * *', syncStock, { guard, name: 'sync-stock' });
  task.on('execution:skipped', ({ reason }) => console.log('skipped:', reason));
  guard.closeOnSignals(); // Stops the task, and waits until the outcome of the current tick is recorded.
}

void main();
