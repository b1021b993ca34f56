import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';

@Injectable()
export class BillingJobs {
  @Cron('*/5 * * * *')
  @SchedulerLock('send-reminders', '10m', '1m')
  async sendReminders(): Promise<void> {
    await Promise.resolve(); // The work.
  }

  @Cron('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'close-day', lockAtMostFor: '10m', keepAlive: true })
  @OncePerDay()
  async closeDay(): Promise<string | undefined> {
    const { businessDate, signal } = currentRun();
    signal.throwIfAborted();
    await Promise.resolve(); // The work.
    return businessDate;
  }
}
