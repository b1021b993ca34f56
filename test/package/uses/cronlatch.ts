import assert from 'node:assert/strict';
import { configureJobGuard, JobGuard, SchedulerLock } from 'cronlatch';

export async function use() {
  const guard = new JobGuard({ lockProvider: { lock: () => Promise.resolve(undefined) } });
  const closeDay = { value: () => Promise.resolve() };
  SchedulerLock('close-day', '10m')({}, 'closeDay', closeDay);
  configureJobGuard(guard);
  assert.equal(await closeDay.value(), undefined);
  const result = await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => 'ran');
  assert.deepEqual(result, { executed: false, reason: 'locked' });
  await guard.close();
}
