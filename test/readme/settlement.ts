import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { Scheduled } from 'cronlatch/node-cron';
import { inRunTransaction } from 'cronlatch/typeorm';

export class SettlementJobs {
  @Scheduled('0 3 * * *', { timeZone: 'Asia/Shanghai' })
  @SchedulerLock({ name: 'daily-settlement', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay({ retry: { maxAttempts: 3, initialDelay: '10m' } }) // The day follows the schedule's time zone.
  async settle(): Promise<void> {
    const { businessDate } = currentRun(); // '2026-11-20', even for a retry after midnight.
    await inRunTransaction(async (manager) => {
      const row = { business_date: businessDate, total: 100 }; // Committed with the run, or not at all.
      await manager.createQueryBuilder().insert().into('settlement').values(row).execute();
    });
  }
}
