import assert from 'node:assert/strict';
import { JobGuard } from 'cronlatch';
import { scheduleLocked } from 'cronlatch/node-cron';
import { InMemoryLockProvider } from 'cronlatch/memory';

export async function use() {
  const guard = new JobGuard({ lockProvider: new InMemoryLockProvider() });
  const task = scheduleLocked('0 3 * * *', { name: 'job', lockAtMostFor: '1m' }, () => 'ran', { guard });
  assert.equal(await task.execute(), 'ran');
  await guard.close();
}
