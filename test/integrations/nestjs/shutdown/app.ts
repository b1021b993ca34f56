import 'reflect-metadata';
import { Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { currentLock, SchedulerLock } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import { EntitySchema, Repository } from 'typeorm';
import dataSource from '../../../../ormconfig';
import { nextCommand, send } from '../../../processes/parent';

export interface AppMessage {
  readonly event: 'enter' | 'closing' | 'aborted' | 'leave';
}

const report = send<AppMessage>;

interface Invoice {
  readonly id: number;
}

const Invoices = new EntitySchema<Invoice>({
  name: 'Invoice',
  tableName: 'invoices',
  columns: { id: { type: 'int', primary: true } },
});

@Injectable()
class BillingJobs implements OnModuleDestroy {
  constructor(@InjectRepository(Invoices) private readonly invoices: Repository<Invoice>) {}

  @Cron('* * * * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('close-day', '1m')
  async closeDay(): Promise<void> {
    currentLock().signal.addEventListener('abort', () => report({ event: 'aborted' }));
    report({ event: 'enter' });
    await nextCommand();
    // The job still has its database.
    await this.invoices.insert({ id: 1 });
    report({ event: 'leave' });
  }

  onModuleDestroy(): void {
    report({ event: 'closing' });
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSource.options, entities: [Invoices] }),
    TypeOrmModule.forFeature([Invoices]),
    ScheduleModule.forRoot(),
    CronlatchModule.forRoot({ close: { timeout: '20s', grace: '19s' } }),
  ],
  providers: [BillingJobs],
})
class AppModule {}

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
}

void main();
