/**
 * Another scheduler than node-cron: croner decides when, the guard decides whether. A guarded function suits
 * any scheduler: it does not reject, and it takes the scheduled time of a tick. Two instances, each with its
 * own scheduler, run each tick once. See docs/other-schedulers.md.
 */
import { setTimeout } from 'node:timers/promises';
import { Cron } from 'croner';
import { currentRun, type JobGuard } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

// Once per tick, so that you can watch it. Nightly: { period: 'day', timeZone: 'Europe/Paris' }.
const TICK = {
  name: 'send-figures',
  lockAtMostFor: '30s',
  oncePer: { period: (at: Date) => at.toISOString(), timeZone: 'UTC' },
};

/**
 * croner returns the time at which a tick came, but not its scheduled time, which is the last time that its
 * pattern matches.
 */
function dueAt(cron: Cron): Date | undefined {
  return cron.previousRuns(1, new Date(Date.now() + 1))[0];
}

function schedule(name: string, guard: JobGuard): Cron {
  const sendFigures = async (): Promise<void> => {
    console.log(`${currentRun().periodKey.slice(11, 19)} runs (${name})`);
    await setTimeout(100); // The work.
  };
  return new Cron('* * * * * *', guard.wrap(TICK, sendFigures, { scheduledAt: dueAt }));
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table and those of the ledger.
  const guards = [await createJobGuard(dataSource), await createJobGuard(dataSource)];
  const ended = guards.map((guard) => new Promise<void>((resolve) => countAnswers(guard, 4, resolve)));

  const crons = guards.map((guard, index) => schedule(`instance ${index + 1}`, guard));
  await Promise.all(ended);
  for (const cron of crons) cron.stop(); // First the scheduler, then the guard, then the database.
  for (const guard of guards) await guard.close();
  await dataSource.destroy();
  console.log('closed');
}

/** A tick is answered by a run or by a skip. */
function countAnswers(guard: JobGuard, count: number, done: () => void): void {
  let answers = 0;
  const answered = (): void => {
    answers += 1;
    if (answers === count) done();
  };
  guard.on('run:completed', answered);
  guard.on('lock:skipped', answered);
  guard.on('run:skipped', answered);
}

void main();
