import {
  StorageBasedLockProvider,
  systemClock,
  type LockProvider,
  type StorageBasedLockProviderOptions,
} from '../../core';
import { InMemoryStorageAccessor } from './in-memory-storage-accessor';

/** Locks that only this process sees, for tests and for tools with one process. The library never falls back to it. */
export class InMemoryLockProvider extends StorageBasedLockProvider implements LockProvider {
  readonly #records: InMemoryStorageAccessor;

  constructor(options: StorageBasedLockProviderOptions = {}) {
    const records = new InMemoryStorageAccessor(options.clock ?? systemClock);
    super(records, options);
    this.#records = records;
  }

  /** Resolves when the lock is free, or the signal aborts. */
  released(name: string, signal: AbortSignal): Promise<void> {
    return this.#records.released(name, signal);
  }

  /** Deletes the record of a lock even if it is held, as an operator's DELETE would. `false`: there is no record. */
  deleteRecord(name: string): boolean {
    return this.#records.delete(name);
  }
}
