import { operations } from 'cronlatch/operations';
import { DataSource } from 'typeorm';
import { openGuard } from '../contenders/guards';
import { migrate } from '../contenders/migrate';
import type { Ground } from '../contest/contest';
import { percentile } from '../contest/statistics';
import { milliseconds } from '../report/format';
import type { Column, Table } from '../report/table';
import { claimSteadily } from './claim-steadily';
import { fillRuns } from './fill';

/** A claim that waits longer for a purge is too late for its tick. */
const GOAL_MS = 1000;

const COLUMNS: readonly Column[] = [
  { key: 'tookMs', label: 'took', kind: 'milliseconds' },
  { key: 'perSecond', label: 'per second', kind: 'rate' },
  { key: 'p50Ms', label: 'p50', kind: 'milliseconds' },
  { key: 'slowestMs', label: 'slowest', kind: 'milliseconds' },
  { key: 'goal', label: 'goal', kind: 'text' },
  { key: 'verdict', label: '', kind: 'text' },
];

export async function measurePurge(rows: number, { server, database, log }: Ground): Promise<Table> {
  const { options } = database;
  await migrate(options);
  const dataSource = await new DataSource(options).initialize();
  log(`${server.name}: inserting ${rows} finished runs`);
  await fillRuns(dataSource, rows);
  await dataSource.destroy();
  const [purger, claimer] = [await openGuard(options), await openGuard(options)];
  try {
    const claims = claimSteadily(claimer);
    log(`${server.name}: purging them while another guard claims runs`);
    const beganMs = performance.now();
    const by = { actor: 'bench', reason: 'to measure it' };
    const { facts } = await operations(purger).purge({ olderThan: '1d', ...by });
    const { deleted } = facts as { deleted: number };
    const tookMs = performance.now() - beganMs;
    const latenciesMs = await claims.end();
    const slowestMs = Math.max(...latenciesMs);
    return {
      id: `${server.name}/purge`,
      title: `${server.name}: purge of finished runs`,
      columns: COLUMNS,
      rows: [
        {
          name: `${deleted} of ${rows} runs purged`,
          values: { tookMs, perSecond: (deleted / tookMs) * 1000 },
        },
        {
          name: `${latenciesMs.length} runs claimed and completed meanwhile`,
          values: {
            ...{ p50Ms: percentile(latenciesMs, 0.5), slowestMs, goal: `≤ ${milliseconds(GOAL_MS)}` },
            verdict: slowestMs <= GOAL_MS ? 'reached' : 'missed',
          },
        },
      ],
      notes: [],
    };
  } finally {
    await Promise.all([purger.close(), claimer.close()]);
  }
}
