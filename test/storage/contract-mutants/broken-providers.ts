import {
  InvalidLockConfigurationError,
  LockLostError,
  LockStorageError,
  type Lock,
  type LockConfiguration,
} from 'cronlatch';
import type { LockObserver, LockProvider } from 'cronlatch/provider';
import { overlay, type BrokenProvider, type Mutants } from './overlay';

/** Requests a changed configuration. */
function requesting(change: (configuration: LockConfiguration) => Partial<LockConfiguration>) {
  return (provider: LockProvider): Partial<LockProvider> => ({
    lock: (configuration, observer) =>
      provider.lock({ ...configuration, ...change(configuration) }, observer),
  });
}

/** Requests another name. */
function renaming(change: (name: string) => string) {
  return requesting(({ name }) => (typeof name === 'string' ? { name: change(name) } : {}));
}

/** Changes the calls of the observer. */
function notifying(change: (observer: LockObserver) => Partial<LockObserver>) {
  return (provider: LockProvider): Partial<LockProvider> => ({
    lock: (configuration, observer) =>
      provider.lock(configuration, observer && overlay(observer, change(observer))),
  });
}

const GRANTED_TOO_LATE = /granted too late/;

export const BROKEN_PROVIDERS: Mutants<BrokenProvider> = {
  'both instances have the same place id (P1)': {
    'has an id of its own': () => ({ id: `mine ${Math.random()}` }),
  },
  'a held lock is refused to another instance, which does not affect the holder (P1)': {
    'throws when the lock is held': (provider) => ({
      async lock(configuration, observer) {
        const lock = await provider.lock(configuration, observer);
        if (lock !== undefined) return lock;
        throw new LockStorageError('held');
      },
    }),
  },
  'a held lock is refused to the same provider, even inside its own lease: the acquisition owns it (P1)': {
    'is re-entrant'(provider) {
      let last: Lock | undefined;
      return {
        lock: async (configuration, observer) =>
          (last = (await provider.lock(configuration, observer)) ?? last),
      };
    },
  },
  'a name that some store could cut, fold or confuse is refused (P7, F-66)': {
    'trims names': renaming((name) => name.trim() || 'job'),
    'removes control characters': renaming((name) => name.replace(/\p{Cc}/gu, '')),
    'repairs half surrogate pairs': renaming((name) => name.toWellFormed()),
    'normalizes names': renaming((name) => name.normalize()),
    'truncates names': renaming((name) => name.slice(0, 64)),
  },
  'a name that is not a string is refused (P7)': {
    'converts every name to a string': requesting(({ name }) => ({ name: String(name) })),
    'refuses with another error class': (provider) => ({
      lock: (configuration, observer) =>
        provider.lock(configuration, observer).catch((error: unknown) => {
          throw error instanceof InvalidLockConfigurationError ? new TypeError(error.message) : error;
        }),
    }),
  },
  'a missing or invalid duration is refused, with the name of the lock (P7)': {
    'has a default lockAtMostFor': requesting(({ lockAtMostFor = '10m' }) => ({ lockAtMostFor })),
    'replaces an invalid lockAtMostFor': requesting(({ lockAtMostFor }) => ({
      lockAtMostFor: lockAtMostFor === '0s' ? '10m' : lockAtMostFor,
    })),
    'ignores lockAtLeastFor': requesting(() => ({ lockAtLeastFor: 0 })),
    'keeps a lock alive for any value of keepAlive': requesting(({ keepAlive = false }) => ({
      keepAlive: keepAlive !== false,
    })),
  },
  'the lockAtLeastFor of the holder counts, not that of the next caller (P5)': {
    'remembers the lockAtLeastFor of its first lock'(provider) {
      let first: LockConfiguration['lockAtLeastFor'];
      return requesting(({ lockAtLeastFor }) => ({ lockAtLeastFor: (first ??= lockAtLeastFor ?? 0) }))(
        provider,
      );
    },
  },
  'a keep-alive renews the lease past lockAtMostFor, until the release (P2)': {
    'ignores keepAlive': requesting(() => ({ keepAlive: false, maxLockDuration: undefined })),
  },
  'a keep-alive renews at its configured interval (P2)': {
    'renews at its default interval': requesting(({ keepAlive = false }) => ({
      keepAlive: keepAlive !== false,
    })),
  },
  'a keep-alive ends at maxLockDuration, and so does the lease (P4)': {
    'ignores maxLockDuration': requesting(() => ({ maxLockDuration: undefined })),
  },
  'the lock of a crashed holder is granted when lockAtMostFor has passed, not before (P4)': {
    'keeps every lock alive': requesting(() => ({ keepAlive: true })),
  },
  'a refused configuration locks nothing (P7)': {
    'locks before it checks the configuration': (provider) => ({
      async lock(configuration, observer) {
        if (configuration.lockAtMostFor === 0) await provider.lock({ ...configuration, lockAtMostFor: '1m' });
        return await provider.lock(configuration, observer);
      },
    }),
  },
  'a reply that arrives after the end of its lease is an error, not a lock (P7)': {
    'returns a skip if a reply came too late': (provider) => ({
      lock: (configuration, observer) =>
        provider.lock(configuration, observer).catch((error: Error) => {
          if (GRANTED_TOO_LATE.test(error.message)) return undefined;
          throw error;
        }),
    }),
  },
  'the observer is notified of an extension, and of no loss after a release (P2)': {
    'never calls its observer': notifying(() => ({ extended: () => {}, lost: () => {}, refused: () => {} })),
  },
  'the observer is notified of a loss, once (P2)': {
    'reports a loss twice': notifying((observer) => ({
      lost: (error) => [error, error].forEach((lost) => observer.lost?.(lost)),
    })),
  },
  'an abandoned lease is no longer renewed, and expires (P4)': {
    'ignores that a lease is abandoned': notifying(() => ({
      abandonedSignal: () => new AbortController().signal,
    })),
  },
  'a refused caller can learn who holds the lock, and until when (P1)': {
    'names itself as the holder': notifying((observer) => ({
      refused: ({ heldUntil }) => observer.refused?.({ heldBy: 'me', heldUntil }),
    })),
  },
  'a keep-alive ends with the release (P6)': {
    'continues to renew after the release': (provider) => ({
      async lock(configuration, observer) {
        const lock = await provider.lock(configuration, observer);
        return (
          lock &&
          overlay(lock, {
            unlock: () => lock.unlock().finally(() => observer?.lost?.(new LockLostError('?'))),
          })
        );
      },
    }),
  },
};
