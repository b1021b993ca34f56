/**
 * Another scheduler than node-cron, here croner: the scheduler decides when, the guard decides whether. A guarded
 * function suits every scheduler: it does not reject, and it takes the scheduled time of a tick.
 *
 * Run, in two terminals: npm run example croner
 * Prints at its start, and at each tick in one of the terminals:
 *   cronlatch … guards 1 job on …: send-figures.
 *   sending the figures
 *   cronlatch … run:completed: job 'send-figures' completed in … (scheduled at …).
 */
import { Cron } from 'croner';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

const LOCK = { name: 'send-figures', lockAtMostFor: '30s', lockAtLeastFor: '1s' };

async function sendFigures(): Promise<void> {
  console.log('sending the figures');
  await Promise.resolve(); // The work.
}

/** croner does not pass the scheduled time of a tick. It is the last time that the pattern matches. */
function scheduledAt(cron: Cron): Date | undefined {
  return cron.previousRuns(1, new Date(Date.now() + 1))[0];
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table.
  const guard = await createJobGuard(dataSource);
  new Cron('*/2 * * * * *', guard.wrap(LOCK, sendFigures, { scheduledAt }));
  guard.closeOnSignals();
}

void main();
