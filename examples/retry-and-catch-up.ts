/**
 * Failed days are retried, and missed days are caught up with, without another tick: the guard looks for overdue runs.
 *
 * Run: npm run example retry-and-catch-up
 * Prints:
 *   cronlatch … guards 1 job on …: daily-report ….
 *   reporting …, attempt 1
 *   cronlatch … run:failed: job 'daily-report' for … failed after … (attempt 1, scheduled at …); the next attempt is at …. Cause: Error: the figures have not arrived yet
 *   reporting …, attempt 2
 *   cronlatch … run:completed: job 'daily-report' for … completed in … (attempt 2…).
 * After days on which no instance ran, it makes up today, and also prints, for each of these days:
 *   cronlatch … run:started: job 'daily-report' for … is made up (attempt 1, scheduled at …); no instance had answered its tick.
 *   reporting …, missed
 *   cronlatch … run:completed: job 'daily-report' for … completed in … (attempt 1…).
 */
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class ReportJobs {
  // Every 10 seconds, so that you can watch it. Nightly: '0 3 * * *'.
  @Scheduled('*/10 * * * * *', { timeZone: 'UTC' })
  @SchedulerLock({ name: 'daily-report', lockAtMostFor: '30s', keepAlive: true })
  @OncePerDay({ retry: { maxAttempts: 3, initialDelay: '1s' }, catchUp: 'all' })
  async report(): Promise<void> {
    const { businessDate, attempt, isCatchUp } = currentRun();
    console.log(`reporting ${businessDate}, ${isCatchUp ? 'missed' : `attempt ${attempt}`}`);
    await Promise.resolve(); // The work.
    if (!isCatchUp && attempt === 1) throw new Error('the figures have not arrived yet');
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the tables of the locks and of the ledger.
  const guard = await createJobGuard(dataSource, { pollInterval: '2s' }); // Default: one minute.
  scheduleJobs(new ReportJobs(), { guard });
  guard.closeOnSignals();
}

void main();
