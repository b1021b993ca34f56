import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { CronlatchModule } from 'cronlatch/nestjs';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });

@Module({
  imports: [ScheduleModule.forRoot(), CronlatchModule.forRoot({ source: pool })],
  providers: [{ provide: 'DB', useValue: drizzle({ client: pool }) }],
})
export class AppModule implements OnApplicationShutdown {
  async onApplicationShutdown(): Promise<void> {
    await pool.end(); // The guard has already closed its own connections.
  }
}
