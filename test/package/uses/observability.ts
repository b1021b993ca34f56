import assert from 'node:assert/strict';
import { JobGuard } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { instrumentGuard } from 'cronlatch/observability';

export async function use() {
  const guard = new JobGuard({ lockProvider: new InMemoryLockProvider(), logger: false });
  const stop = instrumentGuard(guard);
  const job = { name: 'job', lockAtMostFor: '1m' };
  assert.deepEqual(await guard.run(job, () => 'ran'), { executed: true, value: 'ran' });
  stop();
  await guard.close();
}
