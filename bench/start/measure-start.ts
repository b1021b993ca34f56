import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { DataSourceOptions } from 'typeorm';
import { migrate } from '../contenders/migrate';
import type { Ground } from '../contest/contest';
import { median } from '../contest/statistics';
import type { Column, Row, Table } from '../report/table';
import { countTrips } from './count-trips';
import type { Started, StartOrders } from './instance';

const IMPORT_GOAL_MS = 30;
const TRIPS_GOAL = 5;

const COLUMNS: readonly Column[] = [
  { key: 'importMs', label: 'import', kind: 'milliseconds' },
  { key: 'startMs', label: 'start', kind: 'milliseconds' },
  { key: 'trips', label: 'round trips', kind: 'count' },
  { key: 'goal', label: 'goal', kind: 'text' },
  { key: 'verdict', label: '', kind: 'text' },
];

export interface StartSettings {
  /** Each starts new processes. */
  readonly starts: number;
}

/** The import of the library, and `createJobGuard` on a migrated database, each in a new process. */
export async function measureStart(
  { starts }: StartSettings,
  { server, database, log }: Ground,
): Promise<Table[]> {
  // A file has no round trips.
  if (database.counters === undefined) return [];
  const options = database.options as DataSourceOptions & { readonly url: string };
  await migrate(options);
  log(`${server.name}: start`);
  await using counter = await countTrips(options.url);
  const proxied = { ...options, url: counter.url } as DataSourceOptions;
  const kinds = ['driver', 'locks', 'locks and runs'] as const;
  const found = new Map(kinds.map((kind) => [kind, [] as (Started & { readonly trips: number })[]]));
  for (let number = 1; number <= starts; number += 1)
    for (const kind of kinds) {
      let trips = 0;
      const started = await startProcess({ kind, options: proxied }, () => (trips = counter.take()));
      found.get(kind)?.push({ ...started, trips });
      counter.take(); // Those of the close.
    }
  return [
    {
      id: `${server.name}/start`,
      title: `${server.name}: start of a process`,
      columns: COLUMNS,
      rows: [...found].map(([kind, all]) => rowOf(kind, all)),
      notes: [
        `the median of ${starts} processes; round trips with those that open the connection; the driver alone connects, and sends one statement`,
      ],
    },
  ];
}

function rowOf(kind: StartOrders['kind'], all: readonly (Started & { readonly trips: number })[]): Row {
  const trips = median(all.map((one) => one.trips));
  const startMs = median(all.map((one) => one.startMs));
  if (kind === 'driver') return { name: 'driver alone', isBaseline: true, values: { startMs, trips } };
  const importMs = median(all.map((one) => one.importMs ?? NaN));
  const isReached = importMs <= IMPORT_GOAL_MS && trips <= TRIPS_GOAL;
  return {
    name: `createJobGuard, ${kind}`,
    values: {
      ...{ importMs, startMs, trips },
      goal: `import ≤ ${IMPORT_GOAL_MS} ms, ≤ ${TRIPS_GOAL} round trips`,
      verdict: isReached ? 'reached' : 'missed',
    },
  };
}

async function startProcess(orders: StartOrders, onStarted: () => void): Promise<Started> {
  const child = fork(join(__dirname, 'instance.js'));
  const ended = once(child, 'exit');
  let started: Started | undefined;
  child.once('message', (message) => {
    started = message as Started;
    onStarted();
    child.disconnect();
  });
  child.send(orders);
  const [status] = (await ended) as [number | null];
  if (started !== undefined) return started;
  throw new Error(`The process for '${orders.kind}' ended with status ${String(status)}.`);
}
