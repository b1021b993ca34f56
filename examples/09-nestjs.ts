/**
 * The jobs of a NestJS application, with the decorators of @nestjs/schedule. Two instances run in this
 * process: both get a tick each second, and one of them runs the job. This needs legacy decorators, as Nest
 * does.
 */
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { currentRun, JobGuard, OncePerDay, SchedulerLock } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import dataSource from '../ormconfig';

const NIGHT = '0 3 * * *';

@Injectable()
class BillingJobs {
  constructor(guard: JobGuard) {
    guard.on('run:completed', ({ scheduledAt }) => {
      if (scheduledAt !== undefined) console.log(`done, for the tick of ${scheduledAt.toISOString()}`);
    });
  }

  @Cron('* * * * * *')
  @SchedulerLock('send-invoices', '1m', '900ms')
  async sendInvoices(): Promise<void> {
    console.log('sending invoices');
    await Promise.resolve(); // The work.
  }

  // The business day is in the time zone of the schedule.
  @Cron(NIGHT, { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'close-day', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay()
  async closeDay(): Promise<string | undefined> {
    console.log(`closing the day, attempt ${currentRun().attempt}`);
    return await Promise.resolve('closed'); // The work.
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSource.options, migrationsRun: true }), // Creates the tables of locks and runs.
    ScheduleModule.forRoot(),
    CronlatchModule.forRoot(),
  ],
  providers: [BillingJobs],
})
class AppModule {}

async function main(): Promise<void> {
  // In your application, call app.enableShutdownHooks(), so that SIGTERM waits for running jobs.
  const first = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const second = await NestFactory.createApplicationContext(AppModule, { logger: false });
  await new Promise((resolve) => setTimeout(resolve, 2500));

  console.log(`by hand: ${await first.get(BillingJobs).closeDay()}`);
  console.log(`by another instance: ${(await second.get(BillingJobs).closeDay()) ?? 'skipped'}`);
  await Promise.all([first.close(), second.close()]);
  console.log('closed');
}

void main();
