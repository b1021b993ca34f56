import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { currentLock, SchedulerLock } from 'cronlatch';

/** With @nestjs/config, inject its ConfigService instead. */
export abstract class Config {
  abstract getOrThrow(key: string): string;
}

@Injectable()
export class ReportJobs {
  constructor(private readonly config: Config) {}

  @Cron('0 6 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({
    name: 'send-report',
    lockAtMostFor: (jobs: ReportJobs) => jobs.config.getOrThrow('REPORT_LIMIT'),
  })
  async sendReport(): Promise<number | undefined> {
    return await Promise.resolve(currentLock().remainingMs());
  }
}
