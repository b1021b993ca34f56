import assert from 'node:assert/strict';
import { JobGuard } from 'cronlatch';
import { InMemoryLockProvider, InMemoryRunStore } from 'cronlatch/memory';

export async function use() {
  const guard = new JobGuard({ lockProvider: new InMemoryLockProvider(), runStore: new InMemoryRunStore() });
  const job = { name: 'job', lockAtMostFor: '1m' };
  assert.deepEqual(await guard.run(job, () => 'ran'), { executed: true, value: 'ran' });
  await guard.close();
}
