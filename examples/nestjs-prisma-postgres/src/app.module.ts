import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { CronlatchModule } from 'cronlatch/nestjs';
import { createJobGuard } from 'cronlatch/pg';
import { PrismaService } from './prisma.service';
import { SessionJobs } from './session.jobs';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    CronlatchModule.forRootAsync({
      useFactory: async () => ({ guard: await createJobGuard(process.env['DATABASE_URL'] ?? '') }),
    }),
  ],
  providers: [PrismaService, SessionJobs],
})
export class AppModule {}
