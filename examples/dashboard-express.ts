/**
 * The dashboard in an Express application. Only the operator who knows the password can open it.
 *
 * Run: npm run example dashboard-express
 * Prints:
 *   dashboard: http://127.0.0.1:…/jobs, user anne, password …
 *   …
 *   cronlatch … run:completed: job 'close-day' for … completed in … (attempt 1, scheduled at …).
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { OncePerDay, SchedulerLock } from 'cronlatch';
import { createDashboard, toNodeHandler, type Access } from 'cronlatch/dashboard';
import { Scheduled, scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import dataSource from '../ormconfig';

class Jobs {
  // Every two seconds, so that you can watch it. Nightly: '0 3 * * *'.
  @Scheduled('*/2 * * * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock({ name: 'close-day', lockAtMostFor: '1m', keepAlive: true })
  @OncePerDay()
  async closeDay(): Promise<void> {
    await Promise.resolve(); // The work.
  }
}

const password = process.env['DASHBOARD_PASSWORD'] ?? randomBytes(12).toString('base64url');
const expected = hashOf(`Basic ${Buffer.from(`anne:${password}`).toString('base64')}`);

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** In your application, read the session of the user instead. All others get `none`. */
function access(request: Request): Access {
  const sent = hashOf(request.headers.get('authorization') ?? '');
  return timingSafeEqual(sent, expected) ? { level: 'operate', actor: 'anne' } : { level: 'none' };
}

async function main(): Promise<void> {
  await dataSource.initialize();
  await dataSource.runMigrations();
  const guard = await createJobGuard(dataSource);

  const app = express();
  app.use('/jobs', (request, response, next) => {
    if (request.headers.authorization !== undefined) return next();
    response.status(401).set('WWW-Authenticate', 'Basic').end(); // The browser shows its login.
  });
  app.use('/jobs', toNodeHandler(createDashboard({ guard, access })));
  const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  console.log(`dashboard: http://127.0.0.1:${port}/jobs, user anne, password ${password}`);

  scheduleJobs(new Jobs(), { guard });
  guard.closeOnSignals();
}

void main();
