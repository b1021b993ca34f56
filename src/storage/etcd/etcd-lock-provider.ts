import { StorageBasedLockProvider, systemClock, type LockProvider } from '../../core';
import { EtcdGateway } from './etcd-gateway';
import { checkEtcdOptions, type EtcdLockProviderOptions } from './etcd-options';
import { EtcdStorageAccessor } from './etcd-storage-accessor';

/**
 * Locks in etcd 3.4 or later. A lock is a key with a lease of etcd, so leases last whole seconds, and 2 s or more by the
 * default settings of the server.
 */
export class EtcdLockProvider extends StorageBasedLockProvider implements LockProvider {
  readonly #accessor: EtcdStorageAccessor;

  /** @throws InvalidLockConfigurationError for an invalid option */
  constructor(options: EtcdLockProviderOptions) {
    const { keyPrefix = 'cronlatch/', clock = systemClock } = options;
    const gateway = new EtcdGateway(checkEtcdOptions(options), options, clock);
    const accessor = new EtcdStorageAccessor(gateway, keyPrefix, clock);
    super(accessor, options);
    this.#accessor = accessor;
  }

  /** Read from the server with the first lock, unless an option sets it. */
  override get id(): string | undefined {
    return super.id ?? this.#accessor.placeId;
  }

  /** Resolves when the lock is free, when that is not known any more, or the signal aborts. */
  released(name: string, signal: AbortSignal): Promise<void> {
    return this.#accessor.released(name, signal, { timeoutMs: this.statementTimeoutMs });
  }

  /** Deletes nothing: the server deletes expired keys itself. */
  override purge(): Promise<number> {
    return Promise.resolve(0);
  }
}
