import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '../support/benches/executor';
import { DAILY, guardOfRuns, type GuardOfRuns } from '../support/benches/guard-of-runs';
import { LockStorageError } from 'cronlatch';
import { warningsOf } from '../support/benches/guard';

const NO_PERIOD = { periodStart: undefined, periodEnd: undefined, timeZone: undefined };

/** A thousand pending runs of one job, and then one of the registered job 'settle'. */
async function manyPending(job: string): Promise<GuardOfRuns & { readonly ran: string[] }> {
  const bench = guardOfRuns();
  const { guard, runStore } = bench;
  for (let run = 0; run < 1000; run += 1)
    await runStore.insert({ job, scope: '', periodKey: `${run}`, ...NO_PERIOD, state: 'pending' });
  await runStore.insert({ job: 'settle', scope: '', periodKey: 'due', ...NO_PERIOD, state: 'pending' });
  const ran: string[] = [];
  guard.wrap({ ...DAILY, name: 'settle' }, () => void ran.push('settle'));
  return { ...bench, ran };
}

void test('a thousand runs of an unregistered job do not hide another due run', async () => {
  const { guard, ran } = await manyPending('removed');
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(ran, ['settle']);
});

void test('a thousand runs that wait for a lock do not hide another due run', async () => {
  const { guard, ran } = await manyPending('busy');
  guard.wrap({ ...DAILY, name: 'busy' }, () => assert.fail('its lock is held'));
  const [started, end] = [signal(), signal()];
  const holding = guard.run({ name: 'busy', lockAtMostFor: '1h' }, () => {
    started.resolve();
    return end.promise;
  });
  await started.promise;
  assert.equal((await guard.runOverdue()).started, 1);
  assert.deepEqual(ran, ['settle']);
  end.resolve();
  await holding;
});

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
