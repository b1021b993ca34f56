import { LockStorageError } from 'cronlatch';
import type { Instance, LedgerPlace } from '../stores/ledger-place';

/** The error of every call while the server does not answer. */
function away(): Promise<never> {
  return Promise.reject(new LockStorageError('connection refused', { outcome: 'nothing-ran' }));
}

function whileIn<T extends object>(place: T, isReached: () => boolean): T {
  return new Proxy(place, {
    get(target, key): unknown {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => (isReached() ? Reflect.apply(value, target, args) : away());
    },
  });
}

export interface Network {
  isUp: boolean;
}

/** An instance whose database is unreachable while its network is down: for locks and for runs alike. */
export function instanceBehind(
  network: Network,
  place: LedgerPlace,
  options: Parameters<LedgerPlace['instance']>[0] = {},
): Instance {
  const { lockProvider, store } = place.instance();
  return place.instance({
    lockProvider: whileIn(lockProvider, () => network.isUp),
    runStore: whileIn(store, () => network.isUp),
    ...options,
  });
}
