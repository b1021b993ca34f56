import {
  InvalidLockConfigurationError,
  JobGuard,
  lockName,
  type Lock,
  type LockConfiguration,
} from 'cronlatch';
import type { LockObserver, LockProvider } from 'cronlatch/provider';

/** Keeps the locks of each tenant in the database of that tenant. */
class TenantLocks implements LockProvider {
  constructor(private readonly providers: ReadonlyMap<string, LockProvider>) {}

  async lock(configuration: LockConfiguration, observer?: LockObserver): Promise<Lock | undefined> {
    const [tenant = ''] = configuration.name.split(':');
    const provider = this.providers.get(tenant);
    if (provider === undefined)
      throw new InvalidLockConfigurationError(`Lock '${configuration.name}' is of no tenant.`);
    return await provider.lock(configuration, observer);
  }
}

export function invoicesOf(
  providers: ReadonlyMap<string, LockProvider>,
  send: (tenant: string) => Promise<void>,
) {
  const guard = new JobGuard({ lockProvider: new TenantLocks(providers) });
  return guard.wrap({ name: (tenant: string) => lockName(tenant, 'invoices'), lockAtMostFor: '10m' }, send);
}
