import type { JobGuard } from 'cronlatch';
import { VARIANTS, type Variant } from '../contenders/guards';
import { doneTicks, libraryPairs, newRuns, refusedTicks } from '../contenders/library';
import { migrate } from '../contenders/migrate';
import { holdContendedLock } from '../contenders/raw';
import { CONTENDED_LOCK, LOCK_AT_MOST_FOR } from '../contenders/terms';
import type { Contender } from '../contest/contender';
import type { Ground } from '../contest/contest';
import { median } from '../contest/statistics';
import type { Column, Row, Table } from '../report/table';
import { usedHeap } from './heap';
import { StandIn } from './stand-in';

/** A tick that is skipped must not cost more. */
const GOAL_US = 30;

/** The heap must not grow by more with 100,000 names. */
const GOAL_BYTES = 20e6;

const BATCHES = 9;

const TIME: readonly Column[] = [
  { key: 'cpuUs', label: 'processor time', kind: 'microseconds' },
  { key: 'goal', label: 'goal', kind: 'text' },
  { key: 'verdict', label: '', kind: 'text' },
];

const HEAP: readonly Column[] = [
  { key: 'bytes', label: 'heap growth', kind: 'megabytes' },
  { key: 'bytesPerName', label: 'bytes per name', kind: 'count' },
  { key: 'goal', label: 'goal', kind: 'text' },
  { key: 'verdict', label: '', kind: 'text' },
];

export interface OverheadSettings {
  /** Calls of a batch. */
  readonly batch: number;
}

/** What the library itself takes, without the driver and the database: its processor time and its memory. */
export async function measureOverhead({ batch }: OverheadSettings, ground: Ground): Promise<Table[]> {
  const { server, database, log } = ground;
  // Statements of SQLite run inside the call, so there is no driver to leave out.
  if (database.counters === undefined) return [];
  await migrate(database.options);
  await holdContendedLock(database);
  log(`${server.name}: processor time and memory of the library, with repeated answers`);
  const time: Row[] = [];
  const heap: Row[] = [];
  for (const variant of VARIANTS) {
    time.push(...(await timesOf(variant, batch, ground)));
    heap.push(...(await growthOf(variant, ground)));
  }
  return [
    {
      id: `${server.name}/overhead`,
      title: `${server.name}: processor time of the library alone`,
      columns: TIME,
      rows: time,
      notes: [
        `the median of ${BATCHES} batches of ${batch} calls; a stand-in for the driver answers at once`,
      ],
    },
    {
      id: `${server.name}/heap`,
      title: `${server.name}: memory of the library alone`,
      columns: HEAP,
      rows: heap,
      notes: ['after a garbage collection; each name was used once'],
    },
  ];
}

interface Kind {
  readonly kind: string;
  readonly contender: (guard: JobGuard) => Contender | Promise<Contender>;
  readonly isSkipped: boolean;
}

const KINDS: readonly Kind[] = [
  { kind: 'pair', contender: (guard) => libraryPairs(guard, 1), isSkipped: false },
  { kind: 'once-per-day run', contender: (guard) => newRuns(guard), isSkipped: false },
  { kind: 'refused tick', contender: refusedTicks, isSkipped: true },
  { kind: 'tick of a day that is done', contender: doneTicks, isSkipped: true },
];

async function timesOf({ name, options }: Variant, batch: number, { database }: Ground): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { kind, contender, isSkipped } of KINDS) {
    const standIn = new StandIn();
    await using calls = await contender(await standIn.openGuard(database.options, options));
    for (let call = 1; call <= 10; call += 1) await calls.perform(0);
    standIn.replay();
    for (let call = 1; call <= batch; call += 1) await calls.perform(0);
    const batchesUs: number[] = [];
    for (let number = 1; number <= BATCHES; number += 1) batchesUs.push(await cpuOf(calls, batch));
    const cpuUs = median(batchesUs);
    const goal = isSkipped ? { goal: `≤ ${GOAL_US} µs`, verdict: verdictOf(cpuUs <= GOAL_US) } : {};
    rows.push({ name: `${name}, ${kind}`, values: { cpuUs, ...goal } });
  }
  return rows;
}

/** Of all threads, so that garbage collection counts. @returns microseconds per call */
async function cpuOf(contender: Contender, calls: number): Promise<number> {
  const before = process.cpuUsage();
  for (let call = 1; call <= calls; call += 1) await contender.perform(0);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

async function growthOf({ name, options }: Variant, { database }: Ground): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [names, isHeld] of [
    [10_000, false],
    [10_000, true],
    [100_000, false],
  ] as const) {
    const standIn = new StandIn();
    const guard = await standIn.openGuard(database.options, options);
    const run = (lock: string) => guard.run({ name: lock, lockAtMostFor: LOCK_AT_MOST_FOR }, () => {});
    for (let call = 1; call <= 10; call += 1) await run(isHeld ? CONTENDED_LOCK : 'bench-heap');
    standIn.replay();
    const before = usedHeap();
    for (let number = 1; number <= names; number += 1) {
      const { executed } = await run(`bench-heap-${number}`);
      if (executed === isHeld) throw new Error('A call had another result than the recorded one.');
    }
    const bytes = usedHeap() - before;
    await guard.close();
    const goal =
      names === 100_000 ? { goal: `≤ ${GOAL_BYTES / 1e6} MB`, verdict: verdictOf(bytes <= GOAL_BYTES) } : {};
    const what = isHeld ? 'refused ticks of' : 'pairs of';
    rows.push({
      name: `${name}, ${what} ${names} names`,
      values: { bytes, bytesPerName: Math.round(bytes / names), ...goal },
    });
  }
  return rows;
}

function verdictOf(isReached: boolean): string {
  return isReached ? 'reached' : 'missed';
}
