import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { CronlatchModule } from 'cronlatch/nestjs';
import { PrismaService } from './prisma.service';
import { SessionJobs } from './session.jobs';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    CronlatchModule.forRoot({ source: process.env['DATABASE_URL'] }), // The guard opens two connections of its own.
  ],
  providers: [PrismaService, SessionJobs],
})
export class AppModule {}
