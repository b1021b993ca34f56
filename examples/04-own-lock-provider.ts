/**
 * Locks in a store of your own: five methods make a `StorageAccessor`, and `StorageBasedLockProvider` makes locks of it,
 * with renewal, deadlines, retries and settled outcomes. `lockProviderContract` says whether they are locks.
 */
import { JobGuard } from 'cronlatch';
import {
  StorageBasedLockProvider,
  type ExtensionRequest,
  type Grant,
  type LockRecord,
  type LockRequest,
  type StorageAccessor,
} from 'cronlatch/provider';
import { KeyValueStore } from './04-key-value-store';

/**
 * A lock is a key whose value is its owner; it expires with the lease. Over a network, every method also hands its
 * `options.timeoutMs` to the client, and throws a `LockStorageError` with `outcome: 'nothing-ran'` where that is sure.
 */
export class KeyValueLocks implements StorageAccessor {
  constructor(private readonly store: KeyValueStore) {}

  async insertRecord({ name, owner, lockAtMostForMs }: LockRequest): Promise<Grant | undefined> {
    const fencingToken = await this.store.setIfAbsent(name, owner, lockAtMostForMs);
    // In a store that does not number its writes: { fencingToken: undefined }. A counter beside the lock would be
    // another write, and two holders could get their tokens in the wrong order.
    return fencingToken === undefined ? undefined : { fencingToken };
  }

  /** A lease that is over has expired, so to take over is to insert. */
  async updateRecord(request: LockRequest): Promise<Grant | undefined> {
    return await this.insertRecord(request);
  }

  async extend({
    name,
    owner,
    nextOwner,
    lockAtMostForMs,
    lockAtLeastForMs,
  }: ExtensionRequest): Promise<boolean> {
    const entry = await this.store.get(name);
    // Between the look and the write the lease may expire, and be another's: hence compare, and set.
    const ttlMs = Math.max(lockAtMostForMs, lockAtLeastForMs - (entry?.ageMs ?? 0));
    return await this.store.compareAndSet(name, owner, nextOwner, ttlMs);
  }

  async unlock({ name, owner, lockAtLeastForMs }: LockRequest): Promise<boolean> {
    const entry = await this.store.get(name);
    const keptForMs = lockAtLeastForMs - (entry?.ageMs ?? 0);
    if (keptForMs <= 0) return await this.store.compareAndDelete(name, owner);
    // Marked, so that a late extend finds nothing of its own.
    return await this.store.compareAndSet(name, owner, `${owner}/released`, keptForMs);
  }

  async find(name: string): Promise<LockRecord | undefined> {
    const entry = await this.store.get(name);
    if (entry === undefined) return undefined;
    const { value: lockedBy, createRevision: fencingToken, ttlMs } = entry;
    // By the host's clock, because this is for people to read. Nothing is decided by it.
    return { lockedBy, held: true, lockUntil: new Date(Date.now() + ttlMs), fencingToken };
  }
}

async function main(): Promise<void> {
  const store = new KeyValueStore();
  const here = new JobGuard({ lockProvider: new StorageBasedLockProvider(new KeyValueLocks(store)) });
  const there = new JobGuard({ lockProvider: new StorageBasedLockProvider(new KeyValueLocks(store)) });

  const job = { name: 'rotate-keys', lockAtMostFor: '10m', lockAtLeastFor: '30s' };
  await here.run(job, async ({ fencingToken }) => {
    console.log('here: rotating, with fencing token', fencingToken);
    console.log('there, meanwhile:', await there.run(job, () => 'rotated'));
  });
  // The work is done, but 30 seconds are not over.
  console.log('there, afterwards:', await there.run(job, () => 'rotated'));
  const { ttlMs = 0 } = (await store.get('rotate-keys')) ?? {};
  console.log('expires within 30 s:', ttlMs > 0 && ttlMs <= 30_000);

  await Promise.all([here.close(), there.close()]);
}

if (require.main === module) void main();
