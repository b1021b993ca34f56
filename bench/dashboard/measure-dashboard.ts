import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createDashboard, type Dashboard } from 'cronlatch/dashboard';
import { DataSource } from 'typeorm';
import { dailyJob, fillRuns, register } from '../../test/cli/year-of-runs';
import { openGuard } from '../contenders/guards';
import { ALL_TABLES, migrate } from '../contenders/migrate';
import type { Ground } from '../contest/contest';
import { median } from '../contest/statistics';
import type { Column, Table } from '../report/table';

const JOBS = 200;
const DAYS = 90;

const COLUMNS: readonly Column[] = [
  { key: 'p50Ms', label: 'p50', kind: 'milliseconds' },
  { key: 'cpuMs', label: 'cpu', kind: 'milliseconds' },
  { key: 'bytes', label: 'bytes', kind: 'count' },
  { key: 'gzippedBytes', label: 'gzipped', kind: 'count' },
];

export interface DashboardSettings {
  /** So many times, each page is loaded. */
  readonly slices: number;
}

interface Loaded {
  readonly tookMs: number;
  readonly cpuMs: number;
  readonly text: string;
}

/** The overview of many jobs, with and without its statements. */
export async function measureDashboard(
  { slices }: DashboardSettings,
  { server, database, log }: Ground,
): Promise<Table[]> {
  const { options, dialect } = database;
  log(`${server.name}: inserting ${JOBS} jobs with a run on each of ${DAYS} days`);
  await migrate(options, ALL_TABLES);
  const dataSource = await new DataSource(options).initialize();
  const guard = await openGuard(options);
  try {
    const driver = dialect.name === 'mysql' ? 'mysql2' : 'pg';
    await fillRuns({ driver, query: (text) => dataSource.query(text) }, { jobs: JOBS, days: DAYS });
    await register(guard, ...Array.from({ length: JOBS }, (_, job) => dailyJob(`job-${job}`)));
    const [read, shared]: [Loaded[], Loaded[]] = [[], []];
    for (let slice = 0; slice <= slices; slice += 1) {
      const dashboard = createDashboard({ guard, access: () => ({ level: 'read' }) });
      read.push(await load(dashboard));
      shared.push(await load(dashboard));
    }
    const rows = { 'the first load': read, 'the next one, which shares its reads': shared };
    return [
      {
        id: `${server.name}/dashboard`,
        title: `${server.name}: overview of ${JOBS} jobs and ${DAYS} days`,
        columns: COLUMNS,
        // The first load of a process compiles its code.
        rows: await Promise.all(Object.entries(rows).map(([name, all]) => rowOf(name, all.slice(1)))),
        notes: [`the median of ${slices} loads; the page shows 100 jobs`],
      },
    ];
  } finally {
    await Promise.all([guard.close(), dataSource.destroy()]);
  }
}

async function load(dashboard: Dashboard): Promise<Loaded> {
  const [began, used] = [performance.now(), process.cpuUsage()];
  const response = await dashboard(new Request(`http://127.0.0.1/?days=${DAYS}`));
  const text = await response.text();
  const { user, system } = process.cpuUsage(used);
  if (response.status !== 200) throw new Error(`The dashboard answered ${response.status}: ${text}`);
  return { tookMs: performance.now() - began, cpuMs: (user + system) / 1000, text };
}

async function rowOf(name: string, all: readonly Loaded[]): Promise<Table['rows'][number]> {
  const text = all.at(-1)?.text ?? '';
  return {
    name,
    values: {
      p50Ms: median(all.map(({ tookMs }) => tookMs)),
      cpuMs: median(all.map(({ cpuMs }) => cpuMs)),
      bytes: Buffer.byteLength(text),
      gzippedBytes: (await promisify(gzip)(text)).length,
    },
  };
}
