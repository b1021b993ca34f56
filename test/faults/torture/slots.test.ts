import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTask } from 'node-cron';
import { ROWS } from './rows';
import { scheduleOf, SIDES } from './slots';

for (const row of ROWS)
  for (const side of SIDES)
    void test(`row ${row.number}, ${side}: a slot is a time at which node-cron fires`, async () => {
      const schedule = scheduleOf(row, side);
      const task = createTask(schedule.expression, () => {}, { timezone: 'UTC' });
      const fires = task.getNextRuns(60 / row.everyS + 1).map((date) => date.getTime());
      await task.destroy();
      const [firstMs = NaN] = fires;
      assert.deepEqual(schedule.slotsFrom(firstMs - 1, 0, fires.length), fires);
      for (const [index, fireMs] of fires.entries()) {
        assert.equal(schedule.slotAt(fireMs), fireMs);
        assert.equal(schedule.slotAt(fireMs - 1), fires[index - 1] ?? firstMs - row.everyS * 1000);
      }
    });

void test('the first slot of a row is at least the lead away, and the sides do not fire at the same time', () => {
  const [first] = ROWS;
  assert.ok(first);
  const [ours, theirs] = SIDES.map((side) => scheduleOf(first, side).slotsFrom(100_000, 1500, 2));
  assert.deepEqual(
    [ours, theirs],
    [
      [103_000, 105_000],
      [102_000, 104_000],
    ],
  );
});
