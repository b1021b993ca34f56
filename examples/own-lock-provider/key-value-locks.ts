import type { ExtensionRequest, Grant, LockRecord, LockRequest, StorageAccessor } from 'cronlatch/provider';
import type { KeyValueStore } from './key-value-store';

/**
 * A lock is a key whose value is its owner; the key expires with the lease. Over a network, every method also
 * passes its `options.timeoutMs` to the client, and throws a `LockStorageError` with `outcome: 'nothing-ran'`
 * if that is certain.
 */
export class KeyValueLocks implements StorageAccessor {
  constructor(private readonly store: KeyValueStore) {}

  async insertRecord({ name, owner, lockAtMostForMs }: LockRequest): Promise<Grant | undefined> {
    const fencingToken = await this.store.setIfAbsent(name, owner, lockAtMostForMs);
    // A store that does not number its writes returns { fencingToken: undefined }. A counter beside the lock
    // would be a second write, and two holders could get their tokens in the wrong order.
    return fencingToken === undefined ? undefined : { fencingToken };
  }

  /** An expired lease has no key, so a take-over is an insert. */
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
    // Between the read and the write the lease may expire and another holder may take it, so compare and set.
    const ttlMs = Math.max(lockAtMostForMs, lockAtLeastForMs - (entry?.ageMs ?? 0));
    return await this.store.compareAndSet(name, owner, nextOwner, ttlMs);
  }

  async unlock({ name, owner, lockAtLeastForMs }: LockRequest): Promise<boolean> {
    const entry = await this.store.get(name);
    const keptForMs = lockAtLeastForMs - (entry?.ageMs ?? 0);
    if (keptForMs <= 0) return await this.store.compareAndDelete(name, owner);
    // Marked, so that a late extend does not find its owner.
    return await this.store.compareAndSet(name, owner, `${owner}/released`, keptForMs);
  }

  async find(name: string): Promise<LockRecord | undefined> {
    const entry = await this.store.get(name);
    if (entry === undefined) return undefined;
    const { value: lockedBy, createRevision: fencingToken, ttlMs } = entry;
    // By the host's clock, because only operators read this. It decides nothing.
    return { lockedBy, held: true, lockUntil: new Date(Date.now() + ttlMs), fencingToken };
  }
}
