import assert from 'node:assert/strict';
import type { LockProvider } from 'cronlatch/provider';
import { testOnServers, type ServerBench } from '../../support/benches/server';
import { sampleSize } from '../../support/checks/sample-size';
import { eventually } from '../../support/clocks/eventually';
import { lockRows } from '../../support/databases/lock-table';
import { race } from '../../support/jobs/race';

const ASKERS = 8;
const NAMES = sampleSize({ fast: 200, full: 1000 });
const ROLLED_BACK = sampleSize({ fast: 10, full: 100 });

async function checkedAskers(bench: ServerBench): Promise<LockProvider[]> {
  const askers = Array.from({ length: ASKERS }, () => bench.provider());
  for (const asker of askers) await asker.check();
  return askers;
}

testOnServers(
  `of ${ASKERS} processes that insert the first row of a lock at once, one gets the lock, ${NAMES} times (F-46)`,
  async (bench) => {
    const askers = await checkedAskers(bench);
    const tokens = new Map<string, number | undefined>();
    for (let i = 0; i < NAMES; i += 1) tokens.set(`new-${i}`, (await race(askers, `new-${i}`)).fencingToken);
    const rows = await lockRows(bench.application);
    assert.deepEqual(new Map(rows.map(({ name, token }) => [name, token])), new Map([...tokens].sort()));
    assert.ok(rows.every(({ held }) => held));
  },
);

testOnServers(
  `after the first insert of another session is rolled back, one of ${ASKERS} waiting instances gets the lock (F-46)`,
  async (bench) => {
    const askers = await checkedAskers(bench);
    const { ask } = bench.database;
    const now = bench.server === 'postgres' ? 'now()' : 'UTC_TIMESTAMP(6)';
    for (let i = 0; i < ROLLED_BACK; i += 1) {
      await ask('START TRANSACTION');
      await ask(
        `INSERT INTO shedlock (name, locked_by, locked_at, lock_until) VALUES ('new-${i}', 'crashed', ${now}, ${now})`,
      );
      const racing = race(askers, `new-${i}`);
      racing.catch(() => {}); // Awaited below.
      await eventually(() => bench.stranger.isAnySessionBusy(), 'an instance waits for the row');
      await ask('ROLLBACK');
      await racing;
    }
    const rows = await lockRows(bench.application);
    assert.deepEqual([rows.length, rows.every(({ held }) => held)], [ROLLED_BACK, true]);
  },
);
