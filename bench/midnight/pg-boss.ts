import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import type { DataSourceOptions } from 'typeorm';
import type { Orders } from './crowd';
import type { Tick, Work } from './tick';

/** The methods of pg-boss 10 that are called. */
interface Boss {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean; readonly timeout: number }): Promise<void>;
  createQueue(queue: string): Promise<void>;
  send(queue: string, data: JobData, options: object): Promise<string | null>;
  work(
    queue: string,
    options: object,
    handler: (jobs: readonly { readonly data: JobData }[]) => Promise<void>,
  ): Promise<string>;
}

interface JobData {
  readonly job: string;
}

type BossClass = new (options: object) => Boss;

const QUEUE = 'midnight';
const BATCH = 50;
const POLL_SECONDS = 0.5;

/** After that time without a job, the queue is empty. */
const QUIET_MS = 3000;

/** @returns why it cannot be measured, or `undefined` if it can */
export async function preparePgBoss(options: DataSourceOptions): Promise<string | undefined> {
  try {
    const boss = await openBoss(options);
    await boss.createQueue(QUEUE);
    await stop(boss);
    return undefined;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    return 'it is not installed: npm install --no-save pg-boss@10.4.2';
  }
}

/** Each process sends each of its jobs with a key that is unique for hours, and works on every job in the queue. */
export async function openPgBossWork({ options }: Orders): Promise<Work> {
  const boss = await openBoss(options);
  let onRun: Tick['onRun'] = () => {};
  let lastRunAtMs = performance.now();
  await boss.work(QUEUE, { batchSize: BATCH, pollingIntervalSeconds: POLL_SECONDS }, (jobs) => {
    for (const { data } of jobs) onRun(data.job);
    lastRunAtMs = performance.now();
    return Promise.resolve();
  });
  return {
    async tick(job, tick) {
      onRun = tick.onRun;
      await boss.send(QUEUE, { job }, { singletonKey: job, singletonHours: 6 });
      lastRunAtMs = performance.now();
    },
    async untilQuiet() {
      for (;;) {
        const leftMs = lastRunAtMs + QUIET_MS - performance.now();
        if (leftMs <= 0) return;
        await pause(leftMs);
      }
    },
    [Symbol.asyncDispose]: () => stop(boss),
  };
}

async function openBoss(options: DataSourceOptions): Promise<Boss> {
  // Not a dependency that everyone installs, so the compiler must not look for it.
  const name = 'pg-boss';
  const PgBoss = createRequire(__filename)(name) as BossClass;
  const { url } = options as { readonly url: string };
  const boss = new PgBoss({ connectionString: url, max: 2, supervise: false, schedule: false });
  boss.on('error', (error) => console.error(error));
  await boss.start();
  return boss;
}

async function stop(boss: Boss): Promise<void> {
  await boss.stop({ graceful: true, timeout: 5000 });
}
