import { doneTicks, libraryPairs, newRuns, refusedTicks } from '../contenders/library';
import { openGuard, RUN_VARIANTS, VARIANTS } from '../contenders/guards';
import { holdContendedLock, openRawAttempts, openRawPairs, type RawOptions } from '../contenders/raw';
import { openRawReads, openRawRuns } from '../contenders/raw-runs';
import { migrate } from '../contenders/migrate';
import type { BareDatabase } from '../databases/bench-database';
import type { Table } from '../report/table';
import type { Contender, Entry } from './contender';
import { GROUPED, ONE_AT_A_TIME, UNGROUPED } from './goals';
import type { Contest, ContestSettings, Ground } from './contest';
import { runContest } from './run-contest';

/** As many connections as workers, up to this number. */
const MOST_CONNECTIONS = 16;

/** All tables of the part `locks` for one database. */
export async function measureLocks(settings: ContestSettings, ground: Ground): Promise<Table[]> {
  const { options } = ground.database;
  await migrate(options);
  await holdContendedLock(ground.database);
  const tables: Table[] = [];
  for (const contest of contestsOf(ground)) tables.push(await runContest(contest, settings, ground));
  return tables;
}

/** Statements of SQLite block the process, so several workers would only take turns. */
function contestsOf(ground: Ground): Contest[] {
  const hasConnections = ground.database.counters !== undefined;
  const crowds = hasConnections ? [16, 64].map((workers) => pairs(ground, workers)) : [];
  return [
    pairs(ground, 1),
    ...crowds,
    ...(hasConnections ? [ungrouped(ground)] : []),
    contended(ground, hasConnections ? 16 : 1),
    runs(ground, 1),
    ...(hasConnections ? [runs(ground, 16)] : []),
    doneTick(ground),
  ];
}

function pairs({ server, database }: Ground, workers: number): Contest {
  const library = VARIANTS.map(({ name, options, groups }): Entry => ({
    name,
    goal: workers === 1 ? ONE_AT_A_TIME[server.name] : groups ? GROUPED : undefined,
    open: async () => libraryPairs(await openGuard(database.options, options), workers),
  }));
  const onTwo = workers === 1 ? [] : [rawPairs(database, { connections: 2, workers })];
  return {
    key: `pairs/${workers}`,
    title: workers === 1 ? 'pairs, one at a time' : `pairs, ${workers} at a time, each with its own name`,
    unit: 'a pair is a lock and an unlock',
    workers,
    baseline: rawPairs(database, { connections: Math.min(workers, MOST_CONNECTIONS), workers }),
    others: [...library, ...onTwo],
    hasPeers: true,
  };
}

/** The guard owns two connections, and its gate keeps one of them free for renewals. So one is left for acquires. */
function ungrouped({ database }: Ground): Contest {
  const workers = 16;
  return {
    key: `pairs/${workers}/one-connection`,
    title: `pairs, ${workers} at a time, without grouping`,
    unit: 'the driver alone has one connection fewer than the guard',
    workers,
    baseline: rawPairs(database, { connections: 1, workers }),
    others: VARIANTS.filter(({ groups }) => !groups).map(({ name, options }) => ({
      name,
      goal: UNGROUPED,
      open: async () => libraryPairs(await openGuard(database.options, options), workers),
    })),
  };
}

function rawPairs(database: BareDatabase, options: RawOptions): Entry {
  return {
    name: `driver alone, ${connections(options.connections)}`,
    open: () => openRawPairs(database, options),
  };
}

/** Each worker is an instance with a guard of its own: one guard answers ticks that overlap without the database. */
function contended({ database }: Ground, workers: number): Contest {
  return {
    key: `refused/${workers}`,
    title: `attempts at one name that is held, by ${workers === 1 ? 'one instance' : `${workers} instances`}`,
    unit: 'an attempt is one tick that is refused',
    workers,
    baseline: {
      name: `driver alone, take-over, ${connections(workers)}`,
      open: () => openRawAttempts(database, workers),
    },
    others: VARIANTS.map(({ name, options }) => ({
      name,
      open: () => together(workers, async () => refusedTicks(await openGuard(database.options, options))),
    })),
  };
}

function runs({ database }: Ground, workers: number): Contest {
  return {
    key: `once-per-day/${workers}`,
    title:
      workers === 1
        ? 'runs of a once-per-day job, one at a time'
        : `runs of ${workers} once-per-day jobs at a time`,
    unit: 'each run is a new row of the ledger; the driver alone sends the same five statements',
    workers,
    baseline: { name: `driver alone, ${connections(workers)}`, open: () => openRawRuns(database, workers) },
    others: (workers === 1 ? VARIANTS : RUN_VARIANTS).map(({ name, options }) => ({
      name,
      open: async () => newRuns(await openGuard(database.options, options), workers),
    })),
  };
}

function doneTick({ database }: Ground): Contest {
  return {
    key: 'done/1',
    title: 'ticks of a day that is done, one at a time',
    unit: 'the driver alone sends the same read',
    workers: 1,
    // The library records the run that the baseline reads.
    baseline: {
      name: 'driver alone, one connection',
      open: async () => {
        await (await doneTicks(await openGuard(database.options)))[Symbol.asyncDispose]();
        return await openRawReads(database);
      },
    },
    others: VARIANTS.map(({ name, options }) => ({
      name,
      open: async () => await doneTicks(await openGuard(database.options, options)),
    })),
  };
}

/** One contender for each worker. */
export async function together(workers: number, open: () => Promise<Contender>): Promise<Contender> {
  const opened = await Promise.all(Array.from({ length: workers }, open));
  return {
    perform: (worker) => (opened[worker] as Contender).perform(0),
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((contender) => contender[Symbol.asyncDispose]()));
    },
  };
}

function connections(size: number): string {
  return size === 1 ? 'one connection' : `${size} connections`;
}
