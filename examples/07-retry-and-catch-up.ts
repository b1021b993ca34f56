/**
 * cronlatch retries failed runs and catches up with missed days, without another call of the job: a guard
 * looks for overdue runs once a minute. (Here every two seconds, so that you can watch it.)
 */
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

const DAY_MS = 86_400_000;
const TODAY = Date.now();
const dateBefore = (days: number): string => new Date(TODAY - days * DAY_MS).toISOString().slice(0, 10);

class ReportJobs {
  @Scheduled('0 3 * * *', { timeZone: 'UTC' })
  @SchedulerLock({ name: 'daily-report', lockAtMostFor: '30s', keepAlive: true })
  @OncePerDay({ retry: { maxAttempts: 3, initialDelay: '1s' }, catchUp: 'all' })
  async report(): Promise<void> {
    const { businessDate, attempt, isCatchUp } = currentRun();
    const daysAgo = (Date.parse(dateBefore(0)) - Date.parse(businessDate)) / DAY_MS;
    console.log(`the report of ${daysAgo} days ago, attempt ${attempt}`);
    await Promise.resolve(); // The work.
    if (!isCatchUp && attempt === 1) throw new Error('the figures have not arrived yet');
  }
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations(); // Creates the lock table and those of the ledger.
  const guard = await createJobGuard(dataSource, { pollInterval: '2s', logger: false });
  guard.on('run:failed', ({ error, retryAt }) =>
    console.log(`failed, ${retryAt ? 'will be retried' : 'permanently'}: ${String(error)}`),
  );
  const done = new Promise<void>((resolve) =>
    guard.on('run:completed', ({ run }) => run?.periodKey === dateBefore(0) && resolve()),
  );
  const jobs = new ReportJobs();
  scheduleJobs(jobs, { guard });

  // A new job has no missed days. This one ran three days ago, and then the application was down.
  const beginning = { job: 'daily-report', periodKey: dateBefore(3) };
  await guard.ledger.skip(beginning, { actor: 'ops', reason: 'the first day was reported by hand' });
  const missed = await guard.ledger.gaps('daily-report');
  console.log(`missed: ${missed.length} days`);

  await jobs.report().catch(() => console.log('the tick of today has ended')); // Today first, then the earliest missed day.
  await done;
  console.log(`missed: ${(await guard.ledger.gaps('daily-report')).length} days`);
  await guard.close();
  await dataSource.destroy();
}

void main();
