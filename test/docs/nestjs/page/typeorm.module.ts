import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CronlatchModule } from 'cronlatch/nestjs';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { BillingJobs } from './billing.jobs';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env['DATABASE_URL'] ?? 'postgres://app:secret@localhost/app',
      migrations: [createCronlatchMigration()],
      migrationsRun: true,
    }),
    ScheduleModule.forRoot(),
    CronlatchModule.forRoot(),
  ],
  providers: [BillingJobs],
})
export class AppModule {}
