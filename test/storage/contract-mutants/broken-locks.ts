import { LockLostError, LockStorageError, type Lock } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { overlay, type BrokenProvider, type Mutants } from './overlay';

/** A provider whose locks have some wrong members. */
function withLocks(change: (lock: Lock) => Partial<Lock>) {
  return (provider: LockProvider): Partial<LockProvider> => ({
    async lock(configuration, observer) {
      const lock = await provider.lock(configuration, observer);
      return lock && overlay(lock, change(lock));
    },
  });
}

export const BROKEN_LOCKS: Mutants<BrokenProvider> = {
  'a free lock is granted, under its name (P1)': {
    'changes the name of the lock': withLocks(({ name }) => ({ name: name.toUpperCase() })),
  },
  'after a stall past the deadline, the signal is aborted when it is read (P2)': {
    'aborts the signal only in timers': withLocks(({ signal }) => ({ signal })),
  },
  'the signal of a lost lock stays aborted and stays the same object (P2)': {
    'creates a signal at every read': withLocks((lock) => ({
      get signal() {
        return AbortSignal.any([lock.signal]);
      },
    })),
  },
  'a release does not abort the signal, and remainingMs becomes zero (P2)': {
    'aborts at the release': withLocks((lock) => {
      const controller = new AbortController();
      return {
        get signal() {
          return AbortSignal.any([lock.signal, controller.signal]);
        },
        unlock: () => lock.unlock().finally(() => controller.abort()),
      };
    }),
  },
  'the signal aborts when lockAtMostFor has passed, with a LockLostError (P2)': {
    'aborts with a plain error': withLocks((lock) => {
      const controller = new AbortController();
      lock.signal.addEventListener('abort', () => controller.abort());
      return { signal: controller.signal };
    }),
  },
  'remainingMs counts down to zero, and follows an extension (P2)': {
    'never counts down': withLocks(() => ({ remainingMs: () => 600_000 })),
    'counts down from the first lease only': withLocks((lock) => ({
      remainingMs: () => Math.min(lock.remainingMs(), 360_000),
    })),
  },
  'after a stall past the deadline, remainingMs is zero (P2)': {
    'does not check the clock in remainingMs': withLocks((lock) => {
      let remainingMs = lock.remainingMs();
      lock.signal.addEventListener('abort', () => (remainingMs = 0));
      return { remainingMs: () => remainingMs };
    }),
  },
  'after a stall past the deadline, reading the fencing token aborts the signal (P2)': {
    'does not check the clock before it returns the token': withLocks(({ fencingToken }) => ({
      fencingToken,
    })),
  },
  'an extension and a release do not change the token (P3)': {
    'increments the token at every extension': withLocks((lock) => {
      let extensions = 0;
      return {
        get fencingToken() {
          return (lock.fencingToken ?? 0) + extensions;
        },
        extend: (length) => lock.extend(length).finally(() => (extensions += 1)),
      };
    }),
  },
  'after a stall past the deadline, extend aborts the signal and revives nothing (P2)': {
    'returns true from an extension after the end': withLocks((lock) => ({
      extend: (length) => lock.extend(length).then(() => true),
    })),
  },
  'a stall that ends before the deadline has no effect (P2)': {
    'loses the lease at any stall': withLocks((lock) => ({
      extend: (length) => (lock.remainingMs() < 90_000 ? Promise.resolve(false) : lock.extend(length)),
    })),
  },
  'an invalid extension is refused, and changes nothing (P7)': {
    'accepts any duration for an extension': withLocks((lock) => ({
      extend: (length) => lock.extend(length).catch(() => false),
    })),
  },
  'an extension that is requested together with the release does not take effect after it (P6)': {
    'extends before it releases, in any order of the calls': withLocks((lock) => ({
      unlock: () => new Promise((done) => setImmediate(() => done(lock.unlock()))),
    })),
  },
  'further releases return the same result and do not free the lock of the next holder (P6)': {
    'sends a statement at every release': withLocks((lock) => {
      let calls = 0;
      return { unlock: async () => (await lock.unlock()) && (calls += 1) === 1 };
    }),
  },
  'releasing a lost lock returns false and does not throw (P9)': {
    'throws when it releases a lost lock': withLocks((lock) => {
      const unlock = async (): Promise<boolean> => {
        if (await lock.unlock()) return true;
        throw new LockLostError('lost');
      };
      return { unlock, [Symbol.asyncDispose]: async () => void (await unlock()) };
    }),
  },
  'disposing of a lease releases it (P6)': {
    'is not released when it is disposed of': withLocks(() => ({ [Symbol.asyncDispose]: async () => {} })),
  },
  'the error of a task is rethrown unchanged, and its lock is free (P9)': {
    'rethrows the error of a release to the job': withLocks(() => ({
      unlock: () => Promise.reject(new LockStorageError('no release')),
    })),
  },
};
