/**
 * Locks in a store of your own: five methods make a `StorageAccessor` (key-value-locks.ts). `StorageBasedLockProvider`
 * adds renewal, deadlines and retries, and `lockProviderContract` tests whether the locks are correct.
 * `cronlatch/etcd` is such an accessor for a real server.
 *
 * Run: npm run example own-lock-provider
 * Prints:
 *   rotating the keys, with fencing token 1
 *   cronlatch … run:completed: job 'rotate-keys' completed in ….
 *   { executed: false, reason: 'locked' }
 */
import { JobGuard } from 'cronlatch';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { KeyValueLocks } from './key-value-locks';
import { KeyValueStore } from './key-value-store';

async function main(): Promise<void> {
  const store = new KeyValueStore(); // The client of your server.
  const guard = new JobGuard({ lockProvider: new StorageBasedLockProvider(new KeyValueLocks(store)) });

  const job = { name: 'rotate-keys', lockAtMostFor: '10m', lockAtLeastFor: '30s' };
  await guard.run(job, ({ fencingToken }) => {
    console.log('rotating the keys, with fencing token', fencingToken); // The work.
  });
  console.log(await guard.run(job, () => {})); // 30 seconds have not passed.
  await guard.close();
}

void main();
