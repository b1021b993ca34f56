import assert from 'node:assert/strict';
import { LockingTaskExecutor, StorageBasedLockProvider } from 'cronlatch/provider';

export async function use() {
  const heldElsewhere = new StorageBasedLockProvider({
    insertRecord: () => Promise.resolve(undefined),
    updateRecord: () => Promise.resolve('held'),
    extend: () => Promise.resolve(false),
    unlock: () => Promise.resolve(false),
    find: () => Promise.resolve(undefined),
  });
  const executor = new LockingTaskExecutor(heldElsewhere);
  const result = await executor.executeWithLock(() => 'ran', { name: 'job', lockAtMostFor: '1m' });
  assert.deepEqual(result, { executed: false, reason: 'locked' });
}
