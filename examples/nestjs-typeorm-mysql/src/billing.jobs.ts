import { Injectable, Logger } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { SchedulerLock } from 'cronlatch';
import { DataSource } from 'typeorm';

@Injectable()
export class BillingJobs {
  private readonly logger = new Logger(BillingJobs.name);

  constructor(private readonly dataSource: DataSource) {}

  // Every two seconds, so that you can watch it. Each morning: '0 8 * * *', { timeZone: 'Europe/Paris' }.
  @Cron('*/2 * * * * *')
  @SchedulerLock('send-reminders', '1m', '1s') // Name, lockAtMostFor, lockAtLeastFor.
  async sendReminders(): Promise<void> {
    this.logger.log('sending reminders');
    await this.dataSource.query('SELECT 1'); // The work.
  }
}
