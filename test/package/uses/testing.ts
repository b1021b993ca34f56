import assert from 'node:assert/strict';
import { OncePerDay, currentRun } from 'cronlatch';
import { useTestGuard } from 'cronlatch/testing';

export async function use() {
  const bench = useTestGuard({ now: '2026-03-01T12:00:00Z', defaultLockAtMostFor: '10m' });
  const dates = new Set();
  const closeDay = { value: () => Promise.resolve(void dates.add(currentRun().businessDate)) };
  OncePerDay({ name: 'close-day', timeZone: 'UTC' })({}, 'closeDay', closeDay);
  await closeDay.value();
  bench.clock.advance('1d');
  await closeDay.value();
  assert.deepEqual([...dates], ['2026-03-01', '2026-03-02']);
  await bench.dispose();
}
