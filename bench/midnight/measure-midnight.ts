import { NIGHT_VARIANTS, VARIANTS } from '../contenders/guards';
import { migrate } from '../contenders/migrate';
import { insertReleased, lockWriter, openDriver } from '../contenders/raw';
import { difference, settledCounts } from '../contest/count-calls';
import type { Ground } from '../contest/contest';
import type { Counters } from '../databases/bench-database';
import type { Table } from '../report/table';
import { runCrowd, type Kind, type Orders } from './crowd';
import { NIGHT_COLUMNS, nightRow, type Night } from './night-row';
import { preparePgBoss } from './pg-boss';
import { tallyOf } from './tally';

export interface MidnightSettings {
  /** How many jobs are due at once. */
  readonly jobs: number;
  readonly processes: number;
  readonly nights: number;
}

/** All jobs of all processes are due in the same second. */
export async function measureMidnight(settings: MidnightSettings, ground: Ground): Promise<Table[]> {
  const { counters, options } = ground.database;
  // Processes that share a SQLite file exclude each other all the time.
  if (counters === undefined) return [];
  await migrate(options);
  const tables: Table[] = [];
  for (const kind of ['locks', 'once-per-day'] as const)
    tables.push(await measureKind(kind, settings, { ...ground, counters }));
  return tables;
}

async function measureKind(
  kind: Kind,
  { jobs, processes, nights }: MidnightSettings,
  ground: Ground & { readonly counters: Counters },
): Promise<Table> {
  const { server, log } = ground;
  const title = `${jobs} jobs due at once in ${processes} processes, ${kind === 'locks' ? 'as locks' : 'once per day'}`;
  log(`${server.name}: ${title}`);
  // It has no locks.
  const hasPeer = kind === 'once-per-day' && server.name === 'postgres';
  const whyNoPeer = hasPeer ? await preparePgBoss(ground.database.options) : undefined;
  const entries: readonly { readonly name: string; readonly by: Orders['by'] }[] = [
    { name: 'driver alone, one statement at a time', by: 'driver' },
    ...(kind === 'locks' ? VARIANTS : NIGHT_VARIANTS).map(({ name }, by) => ({ name, by })),
    ...(hasPeer && whyNoPeer === undefined ? [{ name: 'pg-boss', by: 'pg-boss' } as const] : []),
  ];
  const done = entries.map((): Night[] => []);
  for (let night = 1; night <= nights; night += 1)
    for (const [position, { name, by }] of entries.entries()) {
      const found = await nightOf(
        { kind, by, jobs, processes, name: `${kind}-${position}-${night}` },
        ground,
      );
      log(`  ${name}, night ${night} of ${nights}: all have run after ${found.allRanMs ?? NaN} ms`);
      done[position]?.push(found);
    }
  const [baseline = []] = done;
  return {
    id: `${server.name}/midnight/${kind}`,
    title: `${server.name}: ${title}`,
    columns: NIGHT_COLUMNS,
    rows: entries.map(({ name, by }, position) =>
      nightRow(name, {
        ...{ kind, jobs, processes },
        nights: done[position] ?? [],
        baseline: position === 0 ? undefined : baseline,
        hasGoal: by === 0,
      }),
    ),
    notes: [
      `the median of ${nights === 1 ? 'one night' : `${nights} nights`}; two connections per process, unless a row names more; statements and commits without those of the start`,
      ...(whyNoPeer === undefined ? [] : [`pg-boss is not measured: ${whyNoPeer}`]),
      ...new Set(done.flat().flatMap(({ failures }) => failures.slice(0, 3))),
    ],
  };
}

interface NightOrders extends Pick<Orders, 'kind' | 'by'> {
  readonly name: string;
  readonly jobs: number;
  readonly processes: number;
}

/** A night without jobs shows what the start of the processes costs. */
async function nightOf(
  { kind, by, name, jobs: number, processes }: NightOrders,
  { database, counters }: Ground & { readonly counters: Counters },
): Promise<Night> {
  const jobs = Array.from({ length: number }, (_, index) => `${name}-${index}`);
  await insertLocks(jobs);
  const idle = await counted([]);
  const busy = await counted(jobs);
  return { ...tallyOf(jobs, busy.accounts), counts: difference(busy.counts, idle.counts) };

  async function counted(due: readonly string[]) {
    const before = await settledCounts(counters);
    const accounts = await runCrowd(processes, { kind, by, options: database.options, jobs: due });
    return { accounts, counts: difference(await settledCounts(counters), before) };
  }

  /** As after the night before. */
  async function insertLocks(names: readonly string[]): Promise<void> {
    const size = 16;
    const driver = await openDriver(database, size);
    const lock = lockWriter(database);
    const insert = async (worker: number): Promise<void> => {
      for (let index = worker; index < names.length; index += size)
        await insertReleased(driver, lock, names[index] ?? '', worker);
    };
    await Promise.all(Array.from({ length: size }, (_, worker) => insert(worker)));
    await driver.end();
  }
}
