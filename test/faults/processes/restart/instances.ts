import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { Child } from '../../../processes/child';
import { sampleSize } from '../../../support/checks/sample-size';
import { eventually } from '../../../support/clocks/eventually';
import { JOBS_PER_SECOND, PERIOD_S, secondOf, type RestartedMessage, type RestartedOrders } from './settings';

export const INSTANCES = 3;
const JOBS = PERIOD_S * JOBS_PER_SECOND;
export const RESTARTS = sampleSize({ fast: 2, full: 40 });

type App = Child<RestartedMessage>;

export interface Done {
  readonly job: string;
  readonly period: number;
  /** In milliseconds since 1970. `undefined` for a run that was started again after a crash. */
  readonly scheduledMs: number | undefined;
  readonly ranMs: number;
  readonly isMadeUp: boolean;
}

/** The three instances of an application. */
export class Instances {
  readonly #running: App[] = [];

  constructor(private readonly options: DataSourceOptions) {}

  async start(delayS: number): Promise<void> {
    const argument = { options: this.options, delayS } satisfies RestartedOrders;
    const app: App = new Child('restarted-app.js', { argument });
    this.#running.push(app);
    await app.received('ready');
  }

  /** Ends the oldest one, also by a crash. */
  async stop(): Promise<void> {
    const app = this.#running.shift();
    app?.kill(Math.random() < 0.5 ? 'SIGKILL' : 'SIGTERM');
    await app?.endedWithin(30_000);
  }

  async each(act: () => Promise<void>): Promise<void> {
    await Promise.all(Array.from({ length: INSTANCES }, async () => await setTimeout(random(300)).then(act)));
  }

  async end(): Promise<void> {
    await Promise.all(this.#running.map((app) => app.end()));
  }
}

export function random(ms: number): number {
  return Math.round(Math.random() * ms);
}

export async function doneIn(dataSource: DataSource): Promise<Done[]> {
  const rows = await dataSource.query<Record<string, unknown>[]>('SELECT * FROM done ORDER BY ran');
  return rows.map((row) => ({
    job: String(row['job']),
    period: Number(row['period']),
    scheduledMs: row['scheduled'] === null ? undefined : Number(row['scheduled']),
    ranMs: Number(row['ran']),
    isMadeUp: Number(row['made_up']) === 1,
  }));
}

/** @param dataSource of the tables. The instances can have another way to them. */
export async function withInstances(
  options: DataSourceOptions,
  dataSource: DataSource,
  body: (instances: Instances) => Promise<void>,
): Promise<void> {
  await dataSource.query(
    'CREATE TABLE done (job VARCHAR(20), period BIGINT, scheduled BIGINT, ran BIGINT, made_up INT, PRIMARY KEY (job, period, ran))',
  );
  const instances = new Instances(options);
  try {
    await body(instances);
  } finally {
    await instances.end();
  }
}

/** The times in an interval at which the periods of a job begin. */
function periodsOf(job: number, fromMs: number, toMs: number): number[] {
  const first = Math.ceil((fromMs / 1000 - secondOf(job)) / PERIOD_S);
  const last = Math.floor((toMs / 1000 - secondOf(job)) / PERIOD_S);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export function assertEachOnce(done: readonly Done[]): void {
  const ids = done.map(({ job, period }) => `${job} ${period}`);
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
    'no period twice',
  );
  const early = done.filter(
    ({ scheduledMs, ranMs }) => scheduledMs !== undefined && scheduledMs > ranMs + 100,
  );
  assert.deepEqual(early, []);
}

/** Restarts all instances again and again. Each period must run once. */
export async function restartOverTicks(
  options: DataSourceOptions,
  dataSource: DataSource,
  t: TestContext,
): Promise<void> {
  await withInstances(options, dataSource, async (instances) => {
    await instances.each(() => instances.start(0));
    const fromMs = Date.now() + 1000;
    const outages: [number, number][] = [];
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await setTimeout(3500 + random(3000));
      await instances.each(() => instances.stop());
      const downMs = Date.now();
      await setTimeout(random(3000));
      await instances.each(() => instances.start(0));
      outages.push([downMs, Date.now()]);
    }
    const toMs = Date.now();
    const due = Array.from({ length: JOBS }, (_, job) =>
      periodsOf(job, fromMs, toMs).map((period) => ({
        id: `job-${job} ${period}`,
        atMs: (period * PERIOD_S + secondOf(job)) * 1000,
      })),
    ).flat();
    const over = due.filter(({ atMs }) => outages.some(([downMs, upMs]) => downMs <= atMs && atMs <= upMs));
    const areAllDone = async (): Promise<boolean> => {
      const ids = new Set((await doneIn(dataSource)).map(({ job, period }) => `${job} ${period}`));
      return due.every(({ id }) => ids.has(id));
    };
    // A run that its process has left is started again after its lease.
    await eventually(areAllDone, 'a run of each period', 30_000);
    const done = await doneIn(dataSource);
    assertEachOnce(done);
    const madeUp = done.filter(({ isMadeUp }) => isMadeUp).length;
    assert.ok(madeUp > 0);
    t.diagnostic(`${due.length} periods, ${over.length} ticks fell into a restart, ${madeUp} were made up`);
  });
}
