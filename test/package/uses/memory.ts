import assert from 'node:assert/strict';
import { createJobGuard, Memory } from 'cronlatch/memory';

export async function use() {
  const guard = createJobGuard(new Memory());
  const job = { name: 'job', lockAtMostFor: '1m' };
  assert.deepEqual(await guard.run(job, () => 'ran'), { executed: true, value: 'ran' });
  await guard.close();
}
