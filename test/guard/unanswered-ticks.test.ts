import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { warningsOf } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';

void test('a guard keeps a thousand unanswered ticks, and warns when it drops one', async (t) => {
  const { guard, runStore, events } = guardOfRuns();
  const warnings = warningsOf(events);
  const away = t.mock.method(runStore, 'peek', () => Promise.reject(new LockStorageError('no answer')));
  const scope = (region: string): string => region;
  const ran: string[] = [];
  const job = guard.wrap(
    { ...DAILY, oncePer: { ...DAILY.oncePer, scope, resume: (run) => [run.scope] } },
    (region: string) => void ran.push(region),
  );
  for (let region = 0; region < 1000; region += 1) await job(`region ${region}`);
  await job('region 999'); // It waits already.
  assert.deepEqual(warnings, []);
  await job('region 1000');
  await job('region 1001');
  assert.equal(warnings.length, 2);
  assert.match(warnings[0] ?? '', /^More than 1,000 ticks are waiting to be retried. The oldest was dropped/);
  away.mock.restore();
  assert.deepEqual(await guard.runOverdue(), { started: 1000, overdue: 0 });
  assert.deepEqual([ran[0], ran.at(-1)], ['region 2', 'region 1001']);
});
