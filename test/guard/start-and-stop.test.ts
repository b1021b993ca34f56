import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { JobGuard } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { createJobGuard } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { sampleSize } from '../support/checks/sample-size';
import { testOnEvery } from '../support/databases/fresh';
import { ledgerDataSource } from '../support/databases/run-tables';
import { dayJob } from '../support/jobs/day-job';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import { newGuard } from '../support/benches/guard-with-runs';

/** An unhandled rejection ends the process, and the test with it: this is Node's default. */
async function startAndStop(times: number, start: () => Promise<JobGuard> | JobGuard): Promise<void> {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const listeners = (): number => signals.reduce((sum, signal) => sum + process.listenerCount(signal), 0);
  const before = { things: openThings(), listeners: listeners() };
  for (let time = 0; time < times; time += 1) {
    const guard = await start();
    guard.closeOnSignals();
    const job = guard.wrap(dayJob({}, { name: `job-${time}`, keepAlive: true }), () => time);
    assert.equal(await job(), time);
    await guard.close();
  }
  // The sockets report their ends in the next turns of the event loop.
  for (let turns = 0; turns < 1000 && openThings() > before.things; turns += 1) await setImmediate();
  // Sockets that were closing at the beginning may be gone.
  assert.ok(openThings() <= before.things, `${openThings()} things, ${before.things} before`);
  assert.equal(listeners(), before.listeners);
}

/** What would keep the process alive: timers, sockets, files. */
function openThings(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind !== 'Immediate').length;
}

const IN_MEMORY = sampleSize({ fast: 300, full: 10_000 });
const IN_A_DATABASE = sampleSize({ fast: 20, full: 1000 });

void test(`a guard that starts and stops ${IN_MEMORY} times leaves no timer and no listener`, () =>
  startAndStop(IN_MEMORY, () => {
    const lockProvider = new InMemoryLockProvider();
    return newGuard({ lockProvider, runStore: new InMemoryRunStore(), logger: false });
  }));

testOnEvery(
  `a guard that starts and stops ${IN_A_DATABASE} times leaves no timer, no listener and no socket`,
  async (database) => {
    await (await ledgerDataSource(database)).destroy();
    await startAndStop(IN_A_DATABASE, () =>
      createJobGuard(new DataSource(database.options), { logger: false }),
    );
  },
);
