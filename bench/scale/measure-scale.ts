import type { JobGuard } from 'cronlatch';
import { DataSource } from 'typeorm';
import { openGuard } from '../contenders/guards';
import { doneTicks, libraryPairs, newRuns } from '../contenders/library';
import { migrate } from '../contenders/migrate';
import type { Contender, Entry } from '../contest/contender';
import type { ContestSettings, Ground } from '../contest/contest';
import { runContest } from '../contest/run-contest';
import { openDatabase } from '../databases';
import type { BenchDatabase } from '../databases/bench-database';
import { fillLocks, fillRuns } from '../purge/fill';
import type { Table } from '../report/table';
import { plansOf } from './plans';

/** Both sides are the library, so what differs is noise or the size of the tables. */
const AS_FAST = { ratio: 0.95 };

/** A lock for each ten runs. */
const RUNS_PER_LOCK = 10;

const FEW = 10;

export interface ScaleSettings extends ContestSettings {
  /** Of the ledger. */
  readonly rows: number;
}

/** Whether the library is as fast with large tables as with small ones. */
export async function measureScale(settings: ScaleSettings, ground: Ground): Promise<Table[]> {
  const { server, database: large, log } = ground;
  const { rows } = settings;
  await using small = await openDatabase(server);
  log(`${server.name}: inserting ${rows / RUNS_PER_LOCK} locks and ${rows} runs`);
  await fill(small, FEW);
  await fill(large, rows);
  const kinds: Readonly<Record<string, (guard: JobGuard) => Contender | Promise<Contender>>> = {
    pairs: (guard) => libraryPairs(guard, 1),
    'runs of a once-per-day job': newRuns,
    'ticks of a day that is done': doneTicks,
  };
  const tables: Table[] = [];
  for (const [kind, contender] of Object.entries(kinds)) {
    const entry = (database: BenchDatabase, name: string): Entry => ({
      name,
      goal: AS_FAST,
      open: async () => await contender(await openGuard(database.options)),
    });
    const contest = {
      key: `scale/${kind.replaceAll(' ', '-')}`,
      title: `${kind}, with small and large tables`,
      unit: 'both rows are the library',
      workers: 1,
      baseline: entry(small, `${FEW} runs`),
      others: [entry(large, `${Math.ceil(rows / RUNS_PER_LOCK)} locks and ${rows} runs`)],
    };
    // The counters of a server cannot distinguish the two databases.
    tables.push(await runContest(contest, { ...settings, counted: 0 }, ground));
  }
  return [
    ...tables,
    {
      id: `${server.name}/plans`,
      title: `${server.name}: plans with large tables`,
      columns: [
        { key: 'verdict', label: '', kind: 'text' },
        { key: 'plan', label: 'plan', kind: 'text' },
      ],
      rows: await plansOf(large),
      notes: ['reached: no step reads a whole table of the library'],
    },
  ];
}

async function fill({ options }: BenchDatabase, rows: number): Promise<void> {
  await migrate(options);
  const dataSource = await new DataSource(options).initialize();
  try {
    await fillLocks(dataSource, Math.ceil(rows / RUNS_PER_LOCK));
    await fillRuns(dataSource, rows);
  } finally {
    await dataSource.destroy();
  }
}
