import {
  InvalidLockConfigurationError,
  LockLostError,
  LockStorageError,
  type Lock,
  type LockConfiguration,
} from 'cronlatch';
import type { LockObserver, LockProvider } from 'cronlatch/provider';
import { overlay, type BrokenProvider } from './overlay';

/** Requests a changed configuration. */
function requesting(change: (configuration: LockConfiguration) => Partial<LockConfiguration>) {
  return (provider: LockProvider): Partial<LockProvider> => ({
    lock: (configuration, observer) =>
      provider.lock({ ...configuration, ...change(configuration) }, observer),
  });
}

/** Changes the calls of the observer. */
function notifying(change: (observer: LockObserver) => Partial<LockObserver>) {
  return (provider: LockProvider): Partial<LockProvider> => ({
    lock: (configuration, observer) =>
      provider.lock(configuration, observer && overlay(observer, change(observer))),
  });
}

const GRANTED_TOO_LATE = /granted too late/;

export const BROKEN_PROVIDERS: readonly BrokenProvider[] = [
  {
    does: 'has an id of its own',
    caughtBy: 'both instances have the same place id (P1)',
    breaks: () => ({ id: `mine ${Math.random()}` }),
  },
  {
    does: 'throws when the lock is held',
    caughtBy: 'a task whose lock another instance holds is skipped, without an error (P1)',
    breaks: (provider) => ({
      async lock(configuration, observer) {
        const lock = await provider.lock(configuration, observer);
        if (lock !== undefined) return lock;
        throw new LockStorageError('held');
      },
    }),
  },
  {
    does: 'is re-entrant',
    caughtBy: 'lock() inside its own lease is refused: lock() is never re-entrant (P1)',
    breaks(provider) {
      let last: Lock | undefined;
      return {
        lock: async (configuration, observer) =>
          (last = (await provider.lock(configuration, observer)) ?? last),
      };
    },
  },
  {
    does: 'trims names',
    caughtBy: 'white space of any kind at either end of a name is refused (P7)',
    breaks: requesting(({ name }) => (typeof name === 'string' ? { name: name.trim() || 'job' } : {})),
  },
  {
    does: 'removes control characters',
    caughtBy: 'control characters in a name are refused (P7)',
    breaks: requesting(({ name }) =>
      typeof name === 'string' ? { name: name.replace(/\p{Cc}/gu, '') } : {},
    ),
  },
  {
    does: 'repairs half surrogate pairs',
    caughtBy: 'half a surrogate pair in a name is refused (P7, F-66)',
    breaks: requesting(({ name }) => (typeof name === 'string' ? { name: name.toWellFormed() } : {})),
  },
  {
    does: 'normalizes names',
    caughtBy: 'a name that is not in Unicode normal form C is refused (P7)',
    breaks: requesting(({ name }) => (typeof name === 'string' ? { name: name.normalize() } : {})),
  },
  {
    does: 'truncates names',
    caughtBy: 'an empty name, or one too long for every store, is refused (P7, F-66)',
    breaks: requesting(({ name }) => (typeof name === 'string' ? { name: name.slice(0, 64) } : {})),
  },
  {
    does: 'converts every name to a string',
    caughtBy: 'a name that is not a string is refused (P7)',
    breaks: requesting(({ name }) => ({ name: String(name) })),
  },
  {
    does: 'has a default lockAtMostFor',
    caughtBy: 'a missing or invalid lockAtMostFor is refused, with the name of the lock (P7)',
    breaks: requesting(({ lockAtMostFor = '10m' }) => ({ lockAtMostFor })),
  },
  {
    does: 'replaces an invalid lockAtMostFor',
    caughtBy: 'a task with an invalid configuration does not run (P7)',
    breaks: requesting(({ lockAtMostFor }) => ({
      lockAtMostFor: lockAtMostFor === '0s' ? '10m' : lockAtMostFor,
    })),
  },
  {
    does: 'ignores lockAtLeastFor',
    caughtBy: 'an invalid lockAtLeastFor is refused, with the name of the lock (P7)',
    breaks: requesting(() => ({ lockAtLeastFor: 0 })),
  },
  {
    does: 'remembers the lockAtLeastFor of its first lock',
    caughtBy: 'the lockAtLeastFor of the holder counts, not that of the next caller (P5)',
    breaks(provider) {
      let first: LockConfiguration['lockAtLeastFor'];
      return requesting(({ lockAtLeastFor }) => ({ lockAtLeastFor: (first ??= lockAtLeastFor ?? 0) }))(
        provider,
      );
    },
  },
  {
    does: 'ignores keepAlive',
    caughtBy: 'a keep-alive renews the lease past lockAtMostFor, until the release (P2)',
    breaks: requesting(() => ({ keepAlive: false, maxLockDuration: undefined })),
  },
  {
    does: 'keeps a lock alive for any value of keepAlive',
    caughtBy: 'an invalid keepAlive or maxLockDuration is refused, with the name of the lock (P7)',
    breaks: requesting(({ keepAlive = false }) => ({ keepAlive: keepAlive !== false })),
  },
  {
    does: 'renews at its default interval',
    caughtBy: 'a keep-alive renews at its configured interval (P2)',
    breaks: requesting(({ keepAlive = false }) => ({ keepAlive: keepAlive !== false })),
  },
  {
    does: 'ignores maxLockDuration',
    caughtBy: 'a keep-alive ends at maxLockDuration, and so does the lease (P4)',
    breaks: requesting(() => ({ maxLockDuration: undefined })),
  },
  {
    does: 'keeps every lock alive',
    caughtBy: 'the lock of a crashed holder is granted when lockAtMostFor has passed, not before (P4)',
    breaks: requesting(() => ({ keepAlive: true })),
  },
  {
    does: 'refuses with another error class',
    caughtBy: 'random invalid names are refused (P7)',
    breaks: (provider) => ({
      lock: (configuration, observer) =>
        provider.lock(configuration, observer).catch((error: unknown) => {
          throw error instanceof InvalidLockConfigurationError ? new TypeError(error.message) : error;
        }),
    }),
  },
  {
    does: 'locks before it checks the configuration',
    caughtBy: 'a refused configuration locks nothing (P7)',
    breaks: (provider) => ({
      async lock(configuration, observer) {
        if (configuration.lockAtMostFor === 0) await provider.lock({ ...configuration, lockAtMostFor: '1m' });
        return await provider.lock(configuration, observer);
      },
    }),
  },
  {
    does: 'returns a skip if a reply came too late',
    caughtBy: 'a reply that arrives after the end of its lease is an error, not a lock (P7)',
    breaks: (provider) => ({
      lock: (configuration, observer) =>
        provider.lock(configuration, observer).catch((error: Error) => {
          if (GRANTED_TOO_LATE.test(error.message)) return undefined;
          throw error;
        }),
    }),
  },
  {
    does: 'never calls its observer',
    caughtBy: 'the observer is notified of an extension, and of no loss after a release (P2)',
    breaks: notifying(() => ({ extended: () => {}, lost: () => {}, refused: () => {} })),
  },
  {
    does: 'reports a loss twice',
    caughtBy: 'the observer is notified of a loss, once (P2)',
    breaks: notifying((observer) => ({
      lost: (error) => [error, error].forEach((lost) => observer.lost?.(lost)),
    })),
  },
  {
    does: 'ignores that a lease is abandoned',
    caughtBy: 'an abandoned lease is no longer renewed, and expires (P4)',
    breaks: notifying(() => ({ abandonedSignal: () => new AbortController().signal })),
  },
  {
    does: 'names itself as the holder',
    caughtBy: 'a refused caller can learn who holds the lock, and until when (P1)',
    breaks: notifying((observer) => ({
      refused: ({ heldUntil }) => observer.refused?.({ heldBy: 'me', heldUntil }),
    })),
  },
  {
    does: 'continues to renew after the release',
    caughtBy: 'a keep-alive ends with the release (P6)',
    breaks: (provider) => ({
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
];
