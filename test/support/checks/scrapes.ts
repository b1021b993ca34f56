import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { metrics } from '@opentelemetry/api';
import Database from 'better-sqlite3';
import { createTables } from 'cronlatch/better-sqlite3';
import { scheduleLocked } from 'cronlatch/node-cron';
import { operations } from 'cronlatch/operations';
import { Registry } from 'prom-client';
import { start } from '../../docs/monitoring/instrumented';
import { measureJobs } from '../../docs/monitoring/prom-client';
import { reasonOf } from '../benches/guard';
import { DAILY } from '../benches/guard-of-runs';
import { JOB } from '../benches/lock';
import { eventually } from '../clocks/eventually';

/** What each exporter of the page serves at one moment, in the text format of Prometheus. */
export type Scrapes = Readonly<Record<'OpenTelemetry' | 'prom-client', string>>;

/**
 * Scrapes both exporters of the page, first of an application that is well, and then with each trouble that an alert
 * reports.
 */
export async function scrapesOfPage(t: TestContext): Promise<{ well: Scrapes; inTrouble: Scrapes }> {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-metrics-'));
  const file = join(folder, 'jobs.db');
  await createTables(`sqlite:${file}`);
  const port = await freePort();
  process.env['METRICS_PORT'] = String(port);
  const guard = await start(`sqlite:${file}`);
  const registry = new Registry();
  measureJobs(guard, registry);
  const database = new Database(file);
  t.after(async () => {
    await guard.close();
    metrics.disable();
    database.close();
    rmSync(folder, { recursive: true });
  });
  const scrape = async (): Promise<Scrapes> => ({
    OpenTelemetry: await (await fetch(`http://localhost:${port}/metrics`)).text(),
    'prom-client': await registry.metrics(),
  });

  // The task is never due while the test runs.
  guard.wrap(DAILY, () => {});
  scheduleLocked('0 3 1 1 *', { ...DAILY, name: 'yearly' }, () => {}, { guard });
  await eventually(async () => (await guard.ledger.jobs()).length === 2, 'the registration of the jobs');
  await guard.run(DAILY, () => {});
  await guard.run(DAILY, () => {}); // Is skipped.
  await guard.run(JOB, (lock) => lock.extend('10m'));
  const well = await scrape();

  await guard.run(JOB, async (lock) => {
    await operations(guard).release({ lock: JOB.name }, { actor: 'test', reason: 'the lock is lost' });
    await lock.extend('10m');
  });
  await guard.run(JOB, () => void database.exec('ALTER TABLE shedlock RENAME TO elsewhere'));
  database.exec('ALTER TABLE elsewhere RENAME TO shedlock');
  const fails = {
    ...DAILY,
    name: 'fails',
    oncePer: { ...DAILY.oncePer, retry: { maxAttempts: 1 } },
  } as const;
  await reasonOf(guard.run(fails, () => Promise.reject(new Error('mine'))));
  // The times of SQLite are in microseconds.
  database.exec('UPDATE cronlatch_job SET declared_at = declared_at - 400 * 86400000000');
  database.exec('UPDATE cronlatch_run SET finished_at = finished_at - 30 * 3600000000');
  const { now } = Date;
  t.mock.method(Date, 'now', () => now() + 45_000);
  await scrape(); // The gauges keep these values when the store fails.
  t.mock.method(guard, 'probe', () => Promise.reject(new Error('the database is down')));
  return { well, inTrouble: await scrape() };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0);
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
