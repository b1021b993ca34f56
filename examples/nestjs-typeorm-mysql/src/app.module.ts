import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CronlatchModule } from 'cronlatch/nestjs';
import { BillingJobs } from './billing.jobs';
import { HealthController } from './health.controller';

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'mysql', url: process.env['DATABASE_URL'] }),
    ScheduleModule.forRoot(),
    CronlatchModule.forRoot(), // Uses the database of TypeOrmModule.
  ],
  controllers: [HealthController],
  providers: [BillingJobs],
})
export class AppModule {}
