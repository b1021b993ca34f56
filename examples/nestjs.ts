/**
 * The jobs of a NestJS application, with the decorators of @nestjs/schedule: at each tick, one instance runs the job.
 *
 * Run, in two terminals: npm run example nestjs
 * Prints at its start, and at each tick in one of the terminals:
 *   …
 *   [Nest] … LOG [Cronlatch] … guards 1 job on …: send-reminders ….
 *   …
 *   sending reminders
 *   [Nest] … LOG [Cronlatch] … run:completed: job 'send-reminders' completed in … (scheduled at …).
 */
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { SchedulerLock } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import dataSource from '../ormconfig';

@Injectable()
class ReminderJobs {
  // Every two seconds, so that you can watch it. Nightly: '0 3 * * *', { timeZone: 'Europe/Paris' }.
  @Cron('*/2 * * * * *')
  @SchedulerLock('send-reminders', '1m', '1s')
  async sendReminders(): Promise<void> {
    console.log('sending reminders');
    await Promise.resolve(); // The work.
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSource.options, migrationsRun: true }), // Creates the lock table.
    ScheduleModule.forRoot(),
    CronlatchModule.forRoot(),
  ],
  providers: [ReminderJobs],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks(); // SIGTERM waits for running jobs.
}

void main();
