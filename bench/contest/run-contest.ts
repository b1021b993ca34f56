import type { BenchPlace } from '../databases/bench-database';
import { ratio } from '../report/format';
import type { Column, Row, Table, Value } from '../report/table';
import { alternate } from './alternate';
import { measureBeside } from './beside';
import type { Contender, Entry } from './contender';
import type { Contest, ContestSettings, Ground } from './contest';
import { countPerCall, type CountedCalls } from './count-calls';
import { figuresOf, type Figures } from './figures';
import { judge } from './goals';

const CONTEST_COLUMNS: readonly Column[] = [
  { key: 'perSecond', label: 'per second', kind: 'rate' },
  { key: 'p50Ms', label: 'p50', kind: 'milliseconds' },
  { key: 'p99Ms', label: 'p99', kind: 'milliseconds' },
  { key: 'statements', label: 'statements', kind: 'count' },
  { key: 'commits', label: 'commits', kind: 'count' },
  { key: 'ratio', label: 'ratio', kind: 'ratio' },
  { key: 'halfOfRounds', label: 'half of rounds', kind: 'text' },
  { key: 'goal', label: 'goal', kind: 'goal' },
  { key: 'verdict', label: '', kind: 'text' },
];

/** Measures all contenders, the baseline first, and then counts what the server does for each of them. */
export async function runContest(
  contest: Contest,
  settings: ContestSettings,
  ground: Ground<BenchPlace>,
): Promise<Table> {
  const { server, log } = ground;
  const { workers, title } = contest;
  const entries = [contest.baseline, ...contest.others];
  log(`${server.name}: ${title}`);
  const figures = await measure(entries, contest, settings, ground);
  const rows: Row[] = [];
  for (const [position, entry] of entries.entries()) {
    const found = figures[position] as Figures;
    const counted = await countPerCall(entry, {
      workers,
      calls: settings.counted,
      database: ground.database,
    });
    rows.push(rowOf(entry, { isBaseline: position === 0, figures: found, counted }));
  }
  for (const { name, reason } of contest.absent ?? [])
    rows.push({ name, values: { verdict: `not measured: ${reason}` } });
  if (contest.hasPeers) {
    const libraryRatio = figures[1]?.ratio;
    const beside = { command: settings.beside, workers, baseline: contest.baseline, libraryRatio };
    rows.push(await measureBeside(beside, settings, ground));
  }
  return {
    id: `${server.name}/${contest.key}`,
    title: `${server.name}: ${title}`,
    columns: CONTEST_COLUMNS,
    rows,
    notes: [
      `${contest.unit}; ${settings.slices} rounds of ${entries.length} slices of ${settings.sliceMs} ms`,
    ],
  };
}

async function measure(
  entries: readonly Entry[],
  { workers }: Contest,
  { slices: rounds, sliceMs, warmUpMs }: ContestSettings,
  { log }: Ground<BenchPlace>,
): Promise<readonly Figures[]> {
  const opened: Contender[] = [];
  try {
    for (const { open } of entries) opened.push(await open());
    const done = await alternate(opened, {
      ...{ workers, rounds, sliceMs, warmUpMs },
      onRound: (soFar) => {
        if (!isThird(soFar.length, rounds)) return;
        const ratios = entries.slice(1).map((_, index) => ratio(figuresOf(soFar, index + 1).ratio));
        log(`  ${soFar.length} of ${rounds} rounds: ratio ${ratios.join(', ')} so far`);
      },
    });
    return entries.map((_, position) => figuresOf(done, position));
  } finally {
    for (const contender of opened) await contender[Symbol.asyncDispose]();
  }
}

/** Three lines per table are enough. */
function isThird(number: number, of: number): boolean {
  return Math.floor((3 * number) / of) > Math.floor((3 * (number - 1)) / of);
}

interface Measured {
  readonly isBaseline: boolean;
  readonly figures: Figures;
  readonly counted: CountedCalls | undefined;
}

function rowOf({ name, goal }: Entry, { isBaseline, figures, counted }: Measured): Row {
  const { perSecond, p50Ms, p99Ms, lowerQuartile, upperQuartile } = figures;
  const compared: Record<string, Value> = isBaseline
    ? { ratio: 1 }
    : {
        ...{ ratio: figures.ratio, lowerQuartile, upperQuartile },
        halfOfRounds: `${ratio(lowerQuartile)}–${ratio(upperQuartile)}`,
        goal: goal?.ratio,
        verdict: judge(figures, goal),
      };
  return { name, isBaseline, values: { perSecond, p50Ms, p99Ms, ...counted, ...compared } };
}
