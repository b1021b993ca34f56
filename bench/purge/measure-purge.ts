import { createJobGuard } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { DATABASES } from '../databases';
import type { Server } from '../databases/bench-database';
import { milliseconds, rate } from '../format';
import { migrate } from '../measure';
import type { Settings } from '../settings';
import { percentile } from '../statistics';
import { claimSteadily } from './claim-steadily';
import { fillRuns } from './fill';

/** A claim that waits longer for a purge is too late for its tick. */
const GOAL_MS = 1000;

/** @returns a line for the report */
export async function measurePurge(
  server: Server,
  { rows }: Settings,
  log: (line: string) => void,
): Promise<string> {
  const open = DATABASES[server.name];
  if (open === undefined) throw new Error(`The bench does not support server '${server.name}'.`);
  await using database = await open(server);
  const { options } = database;
  await migrate(options, 'lock');
  await migrate(options, 'ledger');
  const dataSource = await new DataSource(options).initialize();
  log(`${server.name} ${server.version}: inserting ${rows} finished runs`);
  await fillRuns(dataSource, rows);
  await dataSource.destroy();
  const [purger, claimer] = [await guardOn(), await guardOn()];
  try {
    const claims = claimSteadily(claimer);
    log(`${server.name} ${server.version}: purging them while another guard claims runs`);
    const beganMs = performance.now();
    const deleted = await purger.ledger.purge({ olderThan: '1d' });
    const tookMs = performance.now() - beganMs;
    const latenciesMs = await claims.end();
    const slowestMs = Math.max(...latenciesMs);
    return [
      `${server.name} ${server.version}: ${deleted} of ${rows} runs purged in ${(tookMs / 1000).toFixed(1)} s, ${rate((deleted / tookMs) * 1000)}`,
      `${latenciesMs.length} runs claimed and completed meanwhile: p50 ${milliseconds(percentile(latenciesMs, 0.5))}, slowest ${milliseconds(slowestMs)} (goal ${milliseconds(GOAL_MS)}: ${slowestMs <= GOAL_MS ? 'reached' : 'MISSED'})`,
    ].join('; ');
  } finally {
    await Promise.all([purger.close(), claimer.close()]);
  }

  function guardOn(): ReturnType<typeof createJobGuard> {
    return createJobGuard(new DataSource(options), { logger: false, pollInterval: false });
  }
}
