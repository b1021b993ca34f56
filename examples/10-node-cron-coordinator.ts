/**
 * node-cron's distributed mode with the run ledger as its coordinator. Two instances: one of them runs each
 * tick, and a row records the outcome. It runs every second, so that you can watch it.
 */
import type { JobGuard } from 'cronlatch';
import { LedgerRunCoordinator, scheduleDistributed } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

/** One instance of an application. */
async function instance(name: string): Promise<{ guard: JobGuard; ticked: Promise<unknown> }> {
  const guard = await createJobGuard(dataSource);
  const task = scheduleDistributed(
    '* * * * * *', // Nightly: '0 3 * * *' with timeZone: 'Europe/Paris'.
    () => {
      console.log(`${name} runs`);
      return `by ${name}`;
    },
    { guard, name: 'sync-stock', missedExecutionTolerance: 10_000 },
  );
  const ticked = new Promise((resolve) => {
    guard.on('run:completed', resolve);
    task.on('execution:skipped', ({ reason }) => resolve(console.log(`${name} does not run: ${reason}`)));
  });
  return { guard, ticked };
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the ledger's tables as well.

  const instances = [await instance('one'), await instance('the other')] as const;
  await Promise.all(instances.map(({ ticked }) => ticked));
  const [{ guard }, { guard: other }] = instances;
  await guard.close(); // Stops its task, and waits until the outcome of the current tick is recorded.

  const [run] = await other.ledger.list({ job: 'sync-stock', order: 'oldest-first' });
  console.log(`the ledger: ${run?.state}, ${run?.result}`);

  // An instance that claims late, or again, is not elected: the row stays.
  const late = new LedgerRunCoordinator({ guard: other });
  console.log('elected again:', await late.shouldRun(`sync-stock:${run?.periodKey}`, 60_000));

  await other.close();
  await dataSource.destroy();
}

void main();
