/**
 * The dashboard in a NestJS application. A session of the application decides who can open it.
 *
 * Run: npm run example dashboard-nestjs
 * Prints:
 *   …
 *   dashboard: http://127.0.0.1:…/login/…
 *   …
 *   [Nest] … LOG [Cronlatch] … run:completed: job 'close-day' for … completed in … (attempt 1, scheduled at …).
 */
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { Controller, Get, Injectable, Module, Param, Res, UnauthorizedException } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JobGuard, OncePerDay, SchedulerLock } from 'cronlatch';
import { createDashboard, toNodeHandler, type Access } from 'cronlatch/dashboard';
import { CronlatchModule } from 'cronlatch/nestjs';
import type { Response } from 'express';
import dataSource from '../ormconfig';

@Injectable()
class Jobs {
  // Every two seconds, so that you can watch it. Nightly: '0 3 * * *'.
  @Cron('*/2 * * * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'close-day', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay()
  async closeDay(): Promise<void> {
    await Promise.resolve(); // The work.
  }
}

/** In your application, these are the sessions that its login creates. Without a session, the level is `none`. */
@Injectable()
class Sessions {
  readonly id = randomBytes(16).toString('base64url');

  accessOf(request: Request): Access {
    const cookies = (request.headers.get('cookie') ?? '').split('; ');
    return cookies.includes(`session=${this.id}`) ? { level: 'operate', actor: 'anne' } : { level: 'none' };
  }
}

@Controller('login')
class LoginController {
  constructor(private readonly sessions: Sessions) {}

  @Get(':id')
  login(@Param('id') id: string, @Res() response: Response): void {
    if (id !== this.sessions.id) throw new UnauthorizedException();
    response.cookie('session', id, { httpOnly: true, sameSite: 'lax' }).redirect('/jobs');
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({ ...dataSource.options, migrationsRun: true }), // Creates the tables.
    ScheduleModule.forRoot(),
    CronlatchModule.forRoot(),
  ],
  controllers: [LoginController],
  providers: [Jobs, Sessions],
})
class AppModule {}

async function main(): Promise<void> {
  // A page that is open in a browser would delay the shutdown.
  const app = await NestFactory.create<NestExpressApplication>(AppModule, { forceCloseConnections: true });
  const sessions = app.get(Sessions);
  const dashboard = createDashboard({
    guard: app.get(JobGuard),
    access: (request) => sessions.accessOf(request),
  });
  app.use('/jobs', toNodeHandler(dashboard));
  app.enableShutdownHooks(); // SIGTERM waits for running jobs.
  await app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
  console.log(`dashboard: ${await app.getUrl()}/login/${sessions.id}`);
}

void main();
