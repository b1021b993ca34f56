import { LockStorageError } from 'cronlatch';
import type { Instance, LedgerPlace } from '../stores/ledger-place';

/** The error of every call while the server does not answer. */
function away(): Promise<never> {
  return Promise.reject(new LockStorageError('connection refused', { outcome: 'nothing-ran' }));
}

export interface Network {
  isUp: boolean;
  /** The methods that were called in vain. */
  readonly refused?: string[];
}

function behind<T extends object>(network: Network, place: T): T {
  return new Proxy(place, {
    get(target, key): unknown {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (network.isUp) return Reflect.apply(value, target, args);
        network.refused?.push(String(key));
        return away();
      };
    },
  });
}

/** An instance whose database is unreachable while its network is down: for locks and for runs alike. */
export function instanceBehind(
  network: Network,
  place: LedgerPlace,
  options: Parameters<LedgerPlace['instance']>[0] = {},
): Instance {
  const { lockProvider, store } = place.instance();
  return place.instance({
    lockProvider: behind(network, lockProvider),
    runStore: behind(network, store),
    ...options,
  });
}
