import { randomUUID } from 'node:crypto';
import { ownServer } from '../../test/support/servers/own';
import { migrate } from '../contenders/migrate';
import type { Ground } from '../contest/contest';
import type { Column, Table } from '../report/table';
import { judge } from './judge';
import type { InstanceOrders } from './orders';
import { FAULTS, ROWS, type Row } from './rows';
import { runSide } from './run-side';
import { SIDES } from './slots';
import { complaintsAbout, type RowResult } from './verdict';

const COLUMNS: readonly Column[] = [
  ...['fires', 'runs', ...FAULTS].map((key): Column => ({ key, label: key, kind: 'count' })),
  { key: 'title', label: '', kind: 'text' },
];

export interface TortureSettings {
  /** The number of the only row to run. */
  readonly row: number | undefined;
}

/** Rows of faults for one job in two processes: with node-cron's own coordination by a Redis, and with cronlatch. */
export async function measureTorture(
  { row: only }: TortureSettings,
  { server, database, log }: Ground,
): Promise<Table[]> {
  const { options } = database;
  await migrate(options);
  const redis = await ownServer('redis');
  try {
    const rows = ROWS.filter(({ number }) => only === undefined || number === only);
    const results: RowResult[] = [];
    for (const turn of turnsOf(rows))
      results.push(...(await together(turn, (row) => runRow(row, { options, redisUrl: redis.url }, log))));
    return [
      {
        id: `${server.name}/torture`,
        title: `${server.name}: a job in two processes under faults`,
        columns: COLUMNS,
        rows: results.flatMap(({ row: { number, title }, counts }) =>
          SIDES.map((side) => ({
            name: `${number} ${side}`,
            isBaseline: side !== 'cronlatch',
            values: { ...counts[side], title },
          })),
        ),
        notes: [`Redis ${redis.version}`, ...complaintsAbout(results)],
      },
    ];
  } finally {
    await redis.stop();
  }
}

/** The delicate rows run one by one, the others two at a time, because their jobs sleep. */
function turnsOf([first, ...rest]: readonly Row[]): Row[][] {
  if (first === undefined) return [];
  const others = first.isDelicate ? [] : rest.slice(0, 1);
  return [[first, ...others], ...turnsOf(rest.slice(others.length))];
}

async function runRow(
  row: Row,
  surroundings: Pick<InstanceOrders, 'options' | 'redisUrl'>,
  log: Ground['log'],
): Promise<RowResult> {
  const counts = await together(SIDES, async (side) => {
    // A Redis from the environment may have keys of such a row already.
    const job = `row-${row.number}-${randomUUID()}`;
    const count = judge(await runSide({ row, side, job, ...surroundings }));
    const faults = FAULTS.map((fault) => `${fault}=${count[fault]}`).join(' ');
    log(`  row ${row.number}, ${side}: ${count.runs} runs of ${count.fires} fires: ${faults}`);
    return [side, count] as const;
  });
  return { row, counts: Object.fromEntries(counts) as RowResult['counts'] };
}

/** If one fails, the others end before it rejects. */
async function together<T, R>(all: readonly T[], run: (one: T) => Promise<R>): Promise<R[]> {
  const running = all.map(run);
  await Promise.allSettled(running);
  return await Promise.all(running);
}
