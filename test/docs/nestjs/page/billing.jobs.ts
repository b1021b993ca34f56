import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { InjectDataSource } from '@nestjs/typeorm';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { DataSource } from 'typeorm';

@Injectable()
export class BillingJobs {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  @Cron('*/5 * * * *')
  @SchedulerLock('send-reminders', '10m', '1m')
  async sendReminders(): Promise<void> {
    await this.dataSource.query('SELECT 1'); // The work.
  }

  @Cron('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'close-day', lockAtMostFor: '10m', keepAlive: true })
  @OncePerDay()
  async closeDay(): Promise<string | undefined> {
    const { businessDate, signal } = currentRun();
    signal.throwIfAborted();
    await this.dataSource.query('SELECT 1'); // The work.
    return businessDate;
  }
}
