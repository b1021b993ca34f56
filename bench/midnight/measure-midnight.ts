import { VARIANTS } from '../contenders/guards';
import { migrate } from '../contenders/migrate';
import { insertReleased, lockWriter, openDriver } from '../contenders/raw';
import { difference, settledCounts } from '../contest/count-calls';
import type { Ground } from '../contest/run-contest';
import { median } from '../contest/statistics';
import type { Counters, Counts } from '../databases/bench-database';
import type { Column, Row, Table } from '../report/table';
import { runCrowd, type Kind, type Orders } from './crowd';
import { preparePgBoss } from './pg-boss';
import { tallyOf, type Tally } from './tally';

export interface MidnightSettings {
  /** How many jobs are due at once. */
  readonly jobs: number;
  readonly processes: number;
  readonly nights: number;
}

const COLUMNS: readonly Column[] = [
  { key: 'allRanMs', label: 'all have run after', kind: 'milliseconds' },
  { key: 'allEndedMs', label: 'all ticks ended after', kind: 'milliseconds' },
  { key: 'statements', label: 'statements', kind: 'count' },
  { key: 'commits', label: 'commits', kind: 'count' },
  { key: 'jobsPerProcess', label: 'jobs per process', kind: 'text' },
  { key: 'sooner', label: 'sooner', kind: 'times' },
  { key: 'fewer', label: 'fewer statements', kind: 'times' },
  { key: 'once', label: 'each job once', kind: 'text' },
];

/** One night of one contender. */
interface Night extends Tally {
  readonly counts: Counts;
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
    ...VARIANTS.map(({ name }, by) => ({ name, by })),
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
    columns: COLUMNS,
    rows: entries.map(({ name }, position) =>
      rowOf(name, done[position] ?? [], position === 0 ? undefined : baseline),
    ),
    notes: [
      `the median of ${nights === 1 ? 'one night' : `${nights} nights`}; two connections per process; statements and commits without those of the start`,
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

function rowOf(name: string, nights: readonly Night[], baseline: readonly Night[] | undefined): Row {
  const middle = (value: (night: Night) => number | undefined, of = nights): number | undefined => {
    const values = of.map(value);
    return values.includes(undefined) ? undefined : median(values as number[]);
  };
  /** Within a night, because the machine may have changed between two nights. */
  const compared = (value: (night: Night) => number | undefined): number | undefined =>
    baseline && quotients(baseline.map(value), nights.map(value));
  const never = sum(nights.map((night) => night.never));
  const twice = sum(nights.map((night) => night.twice));
  const failures = sum(nights.map((night) => night.failures.length));
  return {
    name,
    isBaseline: baseline === undefined,
    values: {
      allRanMs: middle(({ allRanMs }) => allRanMs),
      allEndedMs: middle(({ allEndedMs }) => allEndedMs),
      statements: middle(({ counts }) => counts.statements),
      commits: middle(({ counts }) => counts.commits),
      fewest: Math.min(...nights.map(({ fewest }) => fewest)),
      most: Math.max(...nights.map(({ most }) => most)),
      jobsPerProcess: `${Math.min(...nights.map(({ fewest }) => fewest))}–${Math.max(...nights.map(({ most }) => most))}`,
      sooner: compared(({ allRanMs }) => allRanMs),
      fewer: compared(({ counts }) => counts.statements ?? counts.commits),
      ...{ never, twice, failures },
      once:
        never + twice + failures === 0
          ? 'yes'
          : `NO: ${never} never, ${twice} twice, ${failures} failed ticks`,
    },
  };
}

function quotients(
  numerators: readonly (number | undefined)[],
  denominators: readonly (number | undefined)[],
): number | undefined {
  const values = numerators.map((numerator, index) => (numerator ?? NaN) / (denominators[index] ?? NaN));
  return values.some(Number.isNaN) ? undefined : median(values);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
