import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { PrismaPg } from '@prisma/adapter-pg';
import { CronlatchModule } from 'cronlatch/nestjs';
import { Pool } from 'pg';
import { PrismaClient } from './generated/client';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });

@Module({
  imports: [ScheduleModule.forRoot(), CronlatchModule.forRoot({ source: pool })],
  providers: [{ provide: PrismaClient, useValue: prisma }],
})
export class AppModule implements OnApplicationShutdown {
  async onApplicationShutdown(): Promise<void> {
    await prisma.$disconnect();
    await pool.end(); // The guard has already closed its own connections.
  }
}
