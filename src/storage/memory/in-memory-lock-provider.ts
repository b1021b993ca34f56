import { StorageBasedLockProvider, systemClock, type StorageBasedLockProviderOptions } from '../../core';
import { InMemoryStorageAccessor } from './in-memory-storage-accessor';

/**
 * Locks that only this process sees: for tests and for tools that run in one process. Nothing in this library falls
 * back to it.
 */
export class InMemoryLockProvider extends StorageBasedLockProvider {
  readonly #records: InMemoryStorageAccessor;

  constructor(options: StorageBasedLockProviderOptions = {}) {
    const records = new InMemoryStorageAccessor(options.clock ?? systemClock);
    super(records, options);
    this.#records = records;
  }

  /** Removes the record of a lock, whoever holds it, as an operator's DELETE would. */
  deleteRecord(name: string): boolean {
    return this.#records.delete(name);
  }
}
