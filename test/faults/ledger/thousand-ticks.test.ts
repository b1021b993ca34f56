import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJobGuard } from 'cronlatch/typeorm';
import { testOnServers } from '../../support/benches/server';
import { createRunTables } from '../../support/databases/run-tables';
import { closedAtOnce } from '../../support/jobs/coordinators';

const TICKS = 1000;
const STEP_MS = 10;
const BEHIND_MS = 300;

testOnServers('of 1,000 ticks, each runs once on two guards 300 ms apart (S-22)', async (bench) => {
  await createRunTables(bench.application);
  const ran: string[] = [];
  const callOn = async () => {
    const options = { pollInterval: false, logger: false } as const;
    const guard = closedAtOnce(bench, await createJobGuard(bench.dataSource(), options));
    guard.on('run:started', ({ run }) => void ran.push(run?.periodKey ?? ''));
    const configuration = { name: 'sync', lockAtMostFor: '1m', oncePer: { period: 'tick' } } as const;
    const scheduledAt = (at: Date): Date => at;
    return guard.wrap(configuration, async () => await sleep(1), { scheduledAt, onError: 'throw' });
  };
  const [first, second] = [await callOn(), await callOn()];
  const begin = new Date('2026-11-20T03:00:00Z').getTime();
  const ticks = Array.from({ length: TICKS }, (_, number) => new Date(begin + number * STEP_MS));
  const later: Promise<unknown>[] = [];
  const firstMs = performance.now();
  for (const [number, at] of ticks.entries()) {
    // As the timer of a scheduler does: late ticks follow at once.
    await sleep(Math.max(0, firstMs + number * STEP_MS - performance.now()));
    await first(at);
    later.push(sleep(BEHIND_MS).then(() => second(at)));
  }
  await Promise.all(later);
  const keys = ticks.map((tick) => tick.toISOString());
  assert.deepEqual(ran.sort(), keys);
});
