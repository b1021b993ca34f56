/** A process that starts as an application does, and reports how long that took. */
import { once } from 'node:events';
import type { OncePerDay as Decorator } from 'cronlatch';
import type { DataSourceOptions } from 'typeorm';

/** What a process starts. */
export interface StartOrders {
  readonly kind: 'driver' | 'locks' | 'locks and runs';
  readonly options: DataSourceOptions;
}

export interface Started {
  readonly importMs: number | undefined;
  readonly startMs: number;
}

interface Closeable extends Started {
  readonly close: () => Promise<unknown>;
}

async function main(): Promise<void> {
  const [orders] = (await once(process, 'message')) as [StartOrders];
  const { close, ...started } =
    orders.kind === 'driver' ? await startDriver(orders) : await startLibrary(orders);
  // The close is not part of the start, so its statements must not be counted.
  const counted = once(process, 'disconnect');
  process.send?.(started);
  await counted;
  await close();
}

async function startLibrary({ kind, options }: StartOrders): Promise<Closeable> {
  const beganMs = performance.now();
  const { OncePerDay } = await import('cronlatch');
  const importMs = performance.now() - beganMs;
  // This loads TypeORM and the driver, which the application has loaded anyway.
  const { openGuard } = await import('../contenders/guards.js');
  const { DataSource } = await import('typeorm');
  void new DataSource(options);
  // The tables of the ledger are checked at the start only if a job needs them.
  if (kind === 'locks and runs') declareDailyJob(OncePerDay);
  const startedAtMs = performance.now();
  const guard = await openGuard(options);
  const startMs = performance.now() - startedAtMs;
  return { importMs, startMs, close: () => guard.close() };
}

function declareDailyJob(OncePerDay: typeof Decorator): void {
  class DailyJob {
    @OncePerDay({ name: 'bench-start', timeZone: 'UTC' })
    work(): Promise<void> {
      return Promise.resolve();
    }
  }
  void DailyJob;
}

/** A connection with the settings of the library's, and one statement. */
async function startDriver({ options }: StartOrders): Promise<Closeable> {
  const { attach } = await import('../databases/index.js');
  const { connect } = attach(options);
  const startedAtMs = performance.now();
  const connection = await connect();
  await connection.send({ id: 'probe', text: 'SELECT 1', values: [] });
  const startMs = performance.now() - startedAtMs;
  return { importMs: undefined, startMs, close: () => connection.end() };
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
