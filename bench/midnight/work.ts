import { OncePerDay, SchedulerLock } from 'cronlatch';
import { newOwner } from '#cronlatch/core/lease/owner';
import type { SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import { bound } from '../contenders/library';
import { openGuard, NIGHT_VARIANTS, type Variant } from '../contenders/guards';
import { lockWriter } from '../contenders/raw';
import { runWriter } from '../contenders/raw-runs';
import { attach } from '../databases';
import type { BareConnection } from '../databases/bench-database';
import type { Kind, Orders } from './crowd';
import { openPgBossWork } from './pg-boss';
import type { Work } from './tick';

/** Longer than a measurement, so that a process whose tick comes late does not run the job again. */
const AT_LEAST_FOR = '5m';
const AT_LEAST_US = 300_000_000;

/** Locks are not refused because so many wait for the same connections. */
const STATEMENT_TIMEOUT = '2m';

/** As many as a guard owns. */
const CONNECTIONS = 2;

export async function openWork(orders: Orders): Promise<Work> {
  const { by } = orders;
  if (by === 'driver') return await openRawWork(orders);
  return by === 'pg-boss' ? await openPgBossWork(orders) : await openLibraryWork(orders, NIGHT_VARIANTS[by]);
}

async function openLibraryWork({ kind, options, jobs }: Orders, variant: Variant | undefined): Promise<Work> {
  const guard = await openGuard(options, {
    ...variant?.options,
    statementTimeout: STATEMENT_TIMEOUT,
  });
  const onRuns = new Map<string, () => void>();
  const workOf = (name: string, onRun: () => void): (() => Promise<unknown>) => {
    const { oncePerTick } = variant ?? {};
    if (oncePerTick) return guard.wrap({ ...lockOf(name), oncePer: { period: 'tick' } }, onRun, AT_MIDNIGHT);
    const job = bound(guard, midnightJob(kind, name, onRun));
    return () => job.work('');
  };
  const works = new Map(jobs.map((name) => [name, workOf(name, () => onRuns.get(name)?.())]));
  await workOf(`warm-up-${process.pid}`, () => {})();
  return {
    async tick(job, { onRun }) {
      onRuns.set(job, () => onRun(job));
      await works.get(job)?.();
    },
    [Symbol.asyncDispose]: async () => void (await guard.close()),
  };
}

const AT_MIDNIGHT = { scheduledAt: () => new Date('2026-11-21T00:00:00Z'), onError: 'throw' } as const;

function lockOf(name: string) {
  return { name, lockAtMostFor: '10m', lockAtLeastFor: AT_LEAST_FOR } as const;
}

function midnightJob(kind: Kind, name: string, onRun: () => void) {
  const lock = lockOf(name);
  class LockedJob {
    runs = 0;

    @SchedulerLock(lock)
    work(): Promise<void> {
      return Promise.resolve(onRun());
    }
  }
  class DailyJob {
    runs = 0;

    @SchedulerLock(lock)
    @OncePerDay({ timeZone: 'UTC' })
    work(): Promise<void> {
      return Promise.resolve(onRun());
    }
  }
  return kind === 'locks' ? new LockedJob() : new DailyJob();
}

/** The library's own statements, one after the other on each connection. */
async function openRawWork({ kind, options }: Orders): Promise<Work> {
  const database = attach(options);
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => database.connect()));
  const [lock, runs] = [lockWriter(database), runWriter(database)];
  return {
    async tick(job, { position, onRun }) {
      const connection = connections[position % CONNECTIONS] as BareConnection;
      const send = async (statement: SqlStatement): Promise<boolean> =>
        (await connection.send(statement)) === 1;
      const owner = newOwner();
      if (kind === 'once-per-day') await send(runs.read(job, ''));
      if (!(await send(lock('takeOver', job, owner)))) return;
      if (kind === 'once-per-day' && !(await send(runs.claim(job, '', owner)))) return;
      onRun(job);
      if (kind === 'once-per-day') await send(runs.complete(job, '', owner));
      await send(lock('unlock', job, owner, AT_LEAST_US));
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(connections.map((connection) => connection.end()));
    },
  };
}
