import {
  InvalidLockConfigurationError,
  LockLostError,
  LockStorageError,
  type Lock,
  type LockConfiguration,
} from 'cronlatch';
import type { LockObserver, LockProvider } from 'cronlatch/provider';
import { overlay, type BrokenProvider } from './overlay';

/** Asks for something else than it was asked for. */
function asking(change: (configuration: LockConfiguration) => Partial<LockConfiguration>) {
  return (provider: LockProvider): Partial<LockProvider> => ({
    lock: (configuration, observer) =>
      provider.lock({ ...configuration, ...change(configuration) }, observer),
  });
}

/** Tells its observer something else than there is to tell. */
function telling(change: (observer: LockObserver) => Partial<LockObserver>) {
  return (provider: LockProvider): Partial<LockProvider> => ({
    lock: (configuration, observer) =>
      provider.lock(configuration, observer && overlay(observer, change(observer))),
  });
}

const GRANTED_TOO_LATE = /so late that/;

export const BROKEN_PROVIDERS: readonly BrokenProvider[] = [
  {
    does: 'has an id of its own',
    caughtBy: 'P1 both instances name the same place',
    breaks: () => ({ id: `mine ${Math.random()}` }),
  },
  {
    does: 'throws when the lock is held',
    caughtBy: 'P1 a task whose lock another instance holds is skipped, without an error',
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
    caughtBy: 'P1 lock() inside its own lease is refused: it is never re-entrant',
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
    caughtBy: 'P7 white space of any kind at an end of a name is refused',
    breaks: asking(({ name }) => (typeof name === 'string' ? { name: name.trim() || 'job' } : {})),
  },
  {
    does: 'leaves control characters out',
    caughtBy: 'P7 control characters in a name are refused',
    breaks: asking(({ name }) => (typeof name === 'string' ? { name: name.replace(/\p{Cc}/gu, '') } : {})),
  },
  {
    does: 'mends half surrogate pairs',
    caughtBy: 'P7 F-66 half a surrogate pair in a name is refused',
    breaks: asking(({ name }) => (typeof name === 'string' ? { name: name.toWellFormed() } : {})),
  },
  {
    does: 'normalizes names',
    caughtBy: 'P7 a name that is not in Unicode normal form C is refused',
    breaks: asking(({ name }) => (typeof name === 'string' ? { name: name.normalize() } : {})),
  },
  {
    does: 'cuts names',
    caughtBy: 'P7 F-66 a name that is empty, or too long for any store, is refused',
    breaks: asking(({ name }) => (typeof name === 'string' ? { name: name.slice(0, 64) } : {})),
  },
  {
    does: 'makes a string of every name',
    caughtBy: 'P7 a name that is not a string is refused',
    breaks: asking(({ name }) => ({ name: String(name) })),
  },
  {
    does: 'has a lockAtMostFor for those without',
    caughtBy: 'P7 a missing or meaningless lockAtMostFor is refused, by the name of the lock',
    breaks: asking(({ lockAtMostFor = '10m' }) => ({ lockAtMostFor })),
  },
  {
    does: 'has a lockAtMostFor for those with none worth the name',
    caughtBy: 'P7 a task whose configuration cannot be meant does not run',
    breaks: asking(({ lockAtMostFor }) => ({
      lockAtMostFor: lockAtMostFor === '0s' ? '10m' : lockAtMostFor,
    })),
  },
  {
    does: 'ignores lockAtLeastFor',
    caughtBy: 'P7 a meaningless lockAtLeastFor is refused, by the name of the lock',
    breaks: asking(() => ({ lockAtLeastFor: 0 })),
  },
  {
    does: 'remembers the lockAtLeastFor of its first lock',
    caughtBy: 'P5 lockAtLeastFor is that of the grant, not of whoever asks next',
    breaks(provider) {
      let first: LockConfiguration['lockAtLeastFor'];
      return asking(({ lockAtLeastFor }) => ({ lockAtLeastFor: (first ??= lockAtLeastFor ?? 0) }))(provider);
    },
  },
  {
    does: 'ignores keepAlive',
    caughtBy: 'P2 a keep-alive renews the lease past lockAtMostFor, until the release',
    breaks: asking(() => ({ keepAlive: false, maxHold: undefined })),
  },
  {
    does: 'renews at an interval of its own',
    caughtBy: 'P2 a keep-alive renews at the interval that it is given',
    breaks: asking(({ keepAlive = false }) => ({ keepAlive: keepAlive !== false })),
  },
  {
    does: 'ignores maxHold',
    caughtBy: 'P4 a keep-alive ends at maxHold, and so does the lease',
    breaks: asking(() => ({ maxHold: undefined })),
  },
  {
    does: 'keeps every lock alive',
    caughtBy: 'P4 the lock of a holder that vanished is granted when lockAtMostFor has passed, not before',
    breaks: asking(() => ({ keepAlive: true })),
  },
  {
    does: 'refuses by an error of another kind',
    caughtBy: 'P7 random names that cannot be meant are refused',
    breaks: (provider) => ({
      lock: (configuration, observer) =>
        provider.lock(configuration, observer).catch((error: unknown) => {
          throw error instanceof InvalidLockConfigurationError ? new TypeError(error.message) : error;
        }),
    }),
  },
  {
    does: 'locks before it looks at the configuration',
    caughtBy: 'P7 what was refused has locked nothing',
    breaks: (provider) => ({
      async lock(configuration, observer) {
        if (configuration.lockAtMostFor === 0) await provider.lock({ ...configuration, lockAtMostFor: '1m' });
        return await provider.lock(configuration, observer);
      },
    }),
  },
  {
    does: 'skips when an answer came too late',
    caughtBy: 'P7 an answer that comes after the end of its lease is an error, not a lock',
    breaks: (provider) => ({
      lock: (configuration, observer) =>
        provider.lock(configuration, observer).catch((error: Error) => {
          if (GRANTED_TOO_LATE.test(error.message)) return undefined;
          throw error;
        }),
    }),
  },
  {
    does: 'is silent towards its observer',
    caughtBy: 'P2 the observer is told of an extension, and of no loss after a release',
    breaks: telling(() => ({ extended: () => {}, lost: () => {}, refused: () => {} })),
  },
  {
    does: 'tells of a loss twice',
    caughtBy: 'P2 the observer is told of a loss, once',
    breaks: telling((observer) => ({
      lost: (error) => [error, error].forEach((lost) => observer.lost?.(lost)),
    })),
  },
  {
    does: 'ignores that a lease is to lapse',
    caughtBy: 'P4 a keep-alive that is told to lapse leaves the lease to its end',
    breaks: telling(() => ({ abandonedSignal: new AbortController().signal })),
  },
  {
    does: 'names itself as the holder',
    caughtBy: 'P1 whoever is refused can learn who holds the lock, and until when',
    breaks: telling((observer) => ({
      refused: ({ heldUntil }) => observer.refused?.({ heldBy: 'me', heldUntil }),
    })),
  },
  {
    does: 'goes on renewing after the release',
    caughtBy: 'P6 a keep-alive ends with the release',
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
