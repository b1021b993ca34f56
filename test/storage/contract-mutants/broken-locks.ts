import { LockLostError, LockStorageError, type Lock } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { overlay, type BrokenProvider } from './overlay';

/** A provider whose locks have some wrong members. */
function withLocks(change: (lock: Lock) => Partial<Lock>) {
  return (provider: LockProvider): Partial<LockProvider> => ({
    async lock(configuration, observer) {
      const lock = await provider.lock(configuration, observer);
      return lock && overlay(lock, change(lock));
    },
  });
}

export const BROKEN_LOCKS: readonly BrokenProvider[] = [
  {
    does: 'changes the name of the lock',
    caughtBy: 'a free lock is granted, under its name (P1)',
    breaks: withLocks(({ name }) => ({ name: name.toUpperCase() })),
  },
  {
    does: 'aborts the signal only in timers',
    caughtBy: 'after a stall past the deadline, the signal is aborted when it is read (P2)',
    breaks: withLocks(({ signal }) => ({ signal })),
  },
  {
    does: 'creates a signal at every read',
    caughtBy: 'the signal of a lost lock stays aborted and stays the same object (P2)',
    breaks: withLocks((lock) => ({
      get signal() {
        return AbortSignal.any([lock.signal]);
      },
    })),
  },
  {
    does: 'aborts at the release',
    caughtBy: 'a release does not abort the signal, and remainingMs becomes zero (P2)',
    breaks: withLocks((lock) => {
      const controller = new AbortController();
      return {
        get signal() {
          return AbortSignal.any([lock.signal, controller.signal]);
        },
        unlock: () => lock.unlock().finally(() => controller.abort()),
      };
    }),
  },
  {
    does: 'aborts with a plain error',
    caughtBy: 'the signal aborts when lockAtMostFor has passed, with a LockLostError (P2)',
    breaks: withLocks((lock) => {
      const controller = new AbortController();
      lock.signal.addEventListener('abort', () => controller.abort());
      return { signal: controller.signal };
    }),
  },
  {
    does: 'never counts down',
    caughtBy: 'remainingMs counts down to zero (P2)',
    breaks: withLocks(() => ({ remainingMs: () => 600_000 })),
  },
  {
    does: 'counts down from the first lease only',
    caughtBy: 'remainingMs follows an extension (P2)',
    breaks: withLocks((lock) => ({ remainingMs: () => Math.min(lock.remainingMs(), 360_000) })),
  },
  {
    does: 'does not check the clock in remainingMs',
    caughtBy: 'after a stall past the deadline, remainingMs is zero (P2)',
    breaks: withLocks((lock) => {
      let remainingMs = lock.remainingMs();
      lock.signal.addEventListener('abort', () => (remainingMs = 0));
      return { remainingMs: () => remainingMs };
    }),
  },
  {
    does: 'does not check the clock before it returns the token',
    caughtBy: 'after a stall past the deadline, reading the fencing token aborts the signal (P2)',
    breaks: withLocks(({ fencingToken }) => ({ fencingToken })),
  },
  {
    does: 'increments the token at every extension',
    caughtBy: 'an extension and a release do not change the token (P3)',
    breaks: withLocks((lock) => {
      let extensions = 0;
      return {
        get fencingToken() {
          return (lock.fencingToken ?? 0) + extensions;
        },
        extend: (length) => lock.extend(length).finally(() => (extensions += 1)),
      };
    }),
  },
  {
    does: 'returns true from an extension after the end',
    caughtBy: 'after a stall past the deadline, extend aborts the signal and revives nothing (P2)',
    breaks: withLocks((lock) => ({ extend: (length) => lock.extend(length).then(() => true) })),
  },
  {
    does: 'loses the lease at any stall',
    caughtBy: 'a stall that ends before the deadline has no effect (P2)',
    breaks: withLocks((lock) => ({
      extend: (length) => (lock.remainingMs() < 90_000 ? Promise.resolve(false) : lock.extend(length)),
    })),
  },
  {
    does: 'accepts any duration for an extension',
    caughtBy: 'an invalid extension is refused, and changes nothing (P7)',
    breaks: withLocks((lock) => ({ extend: (length) => lock.extend(length).catch(() => false) })),
  },
  {
    does: 'extends before it releases, in any order of the calls',
    caughtBy: 'an extension that is requested together with the release does not take effect after it (P6)',
    breaks: withLocks((lock) => ({
      unlock: () => new Promise((done) => setImmediate(() => done(lock.unlock()))),
    })),
  },
  {
    does: 'sends a statement at every release',
    caughtBy: 'a second release returns the same result and does not free the lock of the next holder (P6)',
    breaks: withLocks((lock) => {
      let calls = 0;
      return { unlock: async () => (await lock.unlock()) && (calls += 1) === 1 };
    }),
  },
  {
    does: 'throws when it releases a lost lock',
    caughtBy: 'releasing a lost lock returns false and does not throw (P9)',
    breaks: withLocks((lock) => {
      const unlock = async (): Promise<boolean> => {
        if (await lock.unlock()) return true;
        throw new LockLostError('lost');
      };
      return { unlock, [Symbol.asyncDispose]: async () => void (await unlock()) };
    }),
  },
  {
    does: 'is not released when it is disposed of',
    caughtBy: 'disposing of a lease releases it (P6)',
    breaks: withLocks(() => ({ [Symbol.asyncDispose]: async () => {} })),
  },
  {
    does: 'rethrows the error of a release to the job',
    caughtBy: 'the error of a task is rethrown unchanged, and its lock is free (P9)',
    breaks: withLocks(() => ({ unlock: () => Promise.reject(new LockStorageError('no release')) })),
  },
];
