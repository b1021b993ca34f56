import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CronlatchModule } from 'cronlatch/nestjs';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { BillingJobs } from './billing.jobs';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'better-sqlite3',
      database: process.env['DATABASE_FILE'] ?? 'billing.sqlite',
      enableWAL: true,
      migrations: [createCronlatchMigration()],
      migrationsRun: true,
    }),
    ScheduleModule.forRoot(),
    CronlatchModule.forRoot(),
  ],
  providers: [BillingJobs],
})
export class AppModule {}
