import 'reflect-metadata';
import { createServer } from 'node:http';
import { scheduleJobs } from 'cronlatch/node-cron';
import { createJobGuard } from 'cronlatch/typeorm';
import { BillingJobs } from './billing-jobs';
import dataSource from './ormconfig';

async function main(): Promise<void> {
  await dataSource.initialize();
  const guard = await createJobGuard(dataSource); // Throws if the lock table is missing.
  scheduleJobs(new BillingJobs(), { guard });
  guard.closeOnSignals(); // SIGTERM and SIGINT.

  const server = createServer((request, response) => {
    const isReady = request.url !== '/ready' || !guard.isClosing;
    response.writeHead(isReady ? 200 : 503).end();
  });
  server.listen(process.env['PORT'] ?? 3000, () => process.send?.('ready')); // PM2 waits for this message.
}

void main();
