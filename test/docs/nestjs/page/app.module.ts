import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { CronlatchModule } from 'cronlatch/nestjs';
import { BillingJobs } from './billing.jobs';

@Module({
  imports: [ScheduleModule.forRoot(), CronlatchModule.forRoot({ source: process.env['DATABASE_URL'] })],
  providers: [BillingJobs],
})
export class AppModule {}
