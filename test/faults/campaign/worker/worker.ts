/** A process that the faults hit: it takes locks and executes runs until it is asked to finish. */
import { setTimeout } from 'node:timers/promises';
import { CronlatchError } from 'cronlatch';
import { createJobGuard, RowLockProvider, TypeOrmLockProvider } from 'cronlatch/typeorm';
import type { DataSource } from 'typeorm';
import { Random } from '#cronlatch/contracts/random';
import { applicationDataSource } from '../../../processes/fixtures/application-data-source';
import { argument, send } from '../../../processes/parent';
import { survivor } from '../survivor';
import { WitnessClient } from '../witness/witness-client';
import { Heartbeat } from './heartbeat';
import { Journal } from './journal';
import { JournalledProvider } from './journalled-provider';
import { JobFailedError, LockJob } from './lock-job';
import { openProvider, type OpenProvider } from './lock-providers';
import { LOCK_LANES, RUN_LANES, type WorkerMessage, type WorkerOrders, type WorkerCommand } from './orders';
import { RunJob } from './run-job';

const orders = argument<WorkerOrders>();
const report = send<WorkerMessage>;
const random = new Random(orders.seed);
const journal = new Journal(orders.journal, orders.worker);
/** Two seconds are long for a statement on this machine, and shorter than a third of a lease. */
const limits = { statementTimeout: '2s' } as const;

let isFinishing = false;

async function main(): Promise<void> {
  const finish = nextOrders();
  const witness = await WitnessClient.at(orders.witness, orders.worker);
  const dataSource = await connected();
  const locks = openLocks(dataSource);
  const guard = await createJobGuard(dataSource, {
    lockProvider: new JournalledProvider(locks.provider, journal),
    // The server may be down at the moment.
    lazy: true,
    pollInterval: false,
    logger: false,
    ...limits,
  });
  const counts = { attempts: 0, grants: 0 };
  guard.on('lock:acquired', () => void (counts.grants += 1));
  const heartbeat = new Heartbeat(journal);
  const lockJob = new LockJob(guard, witness, journal, heartbeat, random);
  const runJob = new RunJob(guard, dataSource, journal, random, orders.startMs);

  const lane = async (attempt: () => Promise<void>, restsMs: readonly number[]): Promise<void> => {
    while (!isFinishing) {
      await attempt().catch(mayFail);
      counts.attempts += 1;
      await setTimeout(random.pick(restsMs));
    }
  };
  const progress = setInterval(() => {
    report({ event: 'progress', ...counts });
    counts.attempts = counts.grants = 0;
  }, 1000);
  report({ event: 'ready' });
  await Promise.all([
    ...Array.from({ length: LOCK_LANES }, () => lane(() => lockJob.attempt(), [10, 30, 60, 120])),
    ...Array.from({ length: RUN_LANES }, () => lane(() => runJob.attempt(), [20, 80, 200])),
  ]);
  await completeAll(runJob, await finish);
  clearInterval(progress);
  heartbeat.stop();
  await guard.close();
  await locks.close();
  await dataSource.destroy();
  witness.close();
  report({ event: 'done' });
  process.disconnect();
}

function openLocks(dataSource: DataSource): OpenProvider {
  if (orders.locks !== undefined) return openProvider(orders.locks, limits);
  const provider =
    orders.keeper === 'row'
      ? new RowLockProvider(dataSource, { ...limits, maxConnections: LOCK_LANES + 2 })
      : new TypeOrmLockProvider(dataSource, limits);
  return { provider, close: () => provider.close() };
}

/** Waits until the server is up. */
async function connected(): ReturnType<typeof applicationDataSource> {
  for (;;) {
    try {
      return await applicationDataSource(survivor(orders.options));
    } catch {
      // The server was killed, or its connection cut, when this process started. That is not a fault of the
      // library, and will end.
      await setTimeout(200);
    }
  }
}

/** Errors of the library are valid answers; any other error is recorded, and fails the campaign. */
function mayFail(error: unknown): void {
  if (error instanceof CronlatchError || error instanceof JobFailedError) return;
  journal.write({ k: 'strange', error: (error as Error)?.stack ?? String(error) });
}

function nextOrders(): Promise<readonly string[]> {
  return new Promise((resolve) => {
    process.on('message', (word: WorkerCommand) => {
      if (word.word === 'stall') {
        stall(word.ms);
        report({ event: 'stalled', id: word.id });
      } else {
        isFinishing = true;
        resolve(word.keys);
      }
    });
  });
}

/** Blocks the event loop, as a long computation does, but without using the processor. */
function stall(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function completeAll(runJob: RunJob, keys: readonly string[]): Promise<void> {
  let open = keys;
  while (open.length > 0) {
    const left: string[] = [];
    for (const key of open) if (!(await runJob.complete(key))) left.push(key);
    open = left;
    if (open.length > 0) await setTimeout(100);
  }
}

process.on('unhandledRejection', (error) =>
  journal.write({ k: 'strange', error: `unhandled: ${String(error)}` }),
);

void main().catch((error: unknown) => {
  journal.write({ k: 'strange', error: (error as Error)?.stack ?? String(error) });
  process.exit(1);
});
