import type { BrokenStore } from './breakable-store';
import type { Mutants } from './overlay';

export const BROKEN_LEASES: Mutants<BrokenStore> = {
  'a holder whose record was deleted does not touch the record of the next holder (P6, F-60)': {
    'extends for every caller': (store) => ({
      renew(request) {
        const row = store.rows.get(request.name);
        if (row !== undefined) row.lockUntilMs = store.extendedUntilMs(row, request);
        return row !== undefined;
      },
    }),
  },
  'an extension that finds no record aborts the signal (P2, F-60)': {
    'extends a missing record': () => ({ renew: () => true }),
  },
  'a lease can be extended again and again (P4)': {
    'never extends': () => ({ renew: () => false }),
    'does not change the owner at an extension': () => ({ extendedBy: ({ owner }) => owner }),
  },
  'a lease can be shortened (P4)': {
    'only lengthens a lease': (store) => ({
      extendedUntilMs: (row, { lockAtMostForMs }) =>
        Math.max(row.lockUntilMs, store.nowMs() + lockAtMostForMs),
    }),
  },
  'extend moves the end of the lease to now + lockAtMostFor, also by more than its first length (P4)': {
    'extends by at most an hour': (store) => ({
      extendedUntilMs: (_, { lockAtMostForMs }) => store.nowMs() + Math.min(lockAtMostForMs, 3_600_000),
    }),
    'extends from the end of the lease, not from now': () => ({
      extendedUntilMs: (row, { lockAtMostForMs }) => row.lockUntilMs + lockAtMostForMs,
    }),
  },
  'a lease that is not a whole number of seconds ends no later than lockAtMostFor (P4)': {
    'rounds a lease up to whole seconds': (store) => ({
      grantedUntilMs: ({ lockAtMostForMs }) => store.nowMs() + Math.ceil(lockAtMostForMs / 1000) * 1000,
    }),
  },
  'a short extension and a crash do not undercut lockAtLeastFor (P5)': {
    'ignores lockAtLeastFor at an extension': (store) => ({
      extendedUntilMs: (_, { lockAtMostForMs }) => store.nowMs() + lockAtMostForMs,
    }),
  },
  'lockAtLeastFor counts from the grant, not from an extension or the release (P5)': {
    'counts lockAtLeastFor from the release': (store) => ({
      releasedUntilMs: (_, { lockAtLeastForMs }) => store.nowMs() + lockAtLeastForMs,
    }),
    'counts lockAtLeastFor from the extension': (store) => ({
      extendedUntilMs: (row, { lockAtMostForMs }) => {
        row.lockedAtMs = store.nowMs();
        return store.nowMs() + lockAtMostForMs;
      },
    }),
  },
  'a stale holder does not release the lock of the next holder, in any process (P6)': {
    'releases for every caller': (store) => ({
      release(request) {
        const row = store.rows.get(request.name);
        if (row !== undefined) row.lockUntilMs = store.releasedUntilMs(row, request);
        return row !== undefined;
      },
    }),
  },
  'a release that finds no record never returns true, and is settled when the lease ends (P6, F-60)': {
    'always returns true from a release': ({ release }) => ({
      release: (request) => release(request) || true,
    }),
  },
  'disposing of a lease releases it (P6)': {
    'never returns true from a release': ({ unlock }) => ({
      unlock: (request) => unlock(request).then(() => false),
    }),
  },
  'a reply that leaves less than a quarter of its lease is an error, and the lock is released (P7)': {
    'releases nothing': () => ({ release: () => true }),
  },
  'a job that runs longer than lockAtLeastFor frees its lock at once (P5)': {
    'keeps the lock for lockAtLeastFor after a longer run': (store) => ({
      releasedUntilMs: ({ lockedAtMs }, { lockAtLeastForMs }) =>
        store.nowMs() > lockedAtMs ? store.nowMs() + lockAtLeastForMs : lockedAtMs + lockAtLeastForMs,
    }),
  },
  'a lock is not granted again before lockAtLeastFor, even if it was released (P5)': {
    'ignores lockAtLeastFor at the release': (store) => ({ releasedUntilMs: () => store.nowMs() }),
    'deletes the record at the release': (store) => ({
      release({ name, owner }) {
        return store.rows.get(name)?.lockedBy === owner && store.rows.delete(name);
      },
    }),
  },
};
