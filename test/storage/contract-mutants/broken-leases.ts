import type { BrokenStore } from './breakable-store';

export const BROKEN_LEASES: readonly BrokenStore[] = [
  {
    does: 'extends for every caller',
    caughtBy: 'a holder whose record was deleted does not touch the record of the next holder (P6, F-60)',
    breaks: (store) => ({
      renew(request) {
        const row = store.rows.get(request.name);
        if (row !== undefined) row.lockUntilMs = store.extendedUntilMs(row, request);
        return row !== undefined;
      },
    }),
  },
  {
    does: 'extends a missing record',
    caughtBy: 'an extension that finds no record aborts the signal (P2, F-60)',
    breaks: () => ({ renew: () => true }),
  },
  {
    does: 'never extends',
    caughtBy: 'a lease can be extended again and again (P4)',
    breaks: () => ({ renew: () => false }),
  },
  {
    does: 'does not change the owner at an extension',
    caughtBy: 'a lease can be extended again and again (P4)',
    breaks: () => ({ extendedBy: ({ owner }) => owner }),
  },
  {
    does: 'only lengthens a lease',
    caughtBy: 'a lease can be shortened (P4)',
    breaks: (store) => ({
      extendedUntilMs: (row, { lockAtMostForMs }) =>
        Math.max(row.lockUntilMs, store.nowMs() + lockAtMostForMs),
    }),
  },
  {
    does: 'extends from the end of the lease, not from now',
    caughtBy: 'extend moves the end of the lease to now + lockAtMostFor (P4)',
    breaks: () => ({ extendedUntilMs: (row, { lockAtMostForMs }) => row.lockUntilMs + lockAtMostForMs }),
  },
  {
    does: 'rounds a lease up to whole seconds',
    caughtBy: 'a lease that is not a whole number of seconds ends no later than lockAtMostFor (P4)',
    breaks: (store) => ({
      grantedUntilMs: ({ lockAtMostForMs }) => store.nowMs() + Math.ceil(lockAtMostForMs / 1000) * 1000,
    }),
  },
  {
    does: 'extends by at most an hour',
    caughtBy: 'a lease can be extended by more than its first length (P4)',
    breaks: (store) => ({
      extendedUntilMs: (_, { lockAtMostForMs }) => store.nowMs() + Math.min(lockAtMostForMs, 3_600_000),
    }),
  },
  {
    does: 'ignores lockAtLeastFor at an extension',
    caughtBy: 'a short extension and a crash do not undercut lockAtLeastFor (P5)',
    breaks: (store) => ({ extendedUntilMs: (_, { lockAtMostForMs }) => store.nowMs() + lockAtMostForMs }),
  },
  {
    does: 'counts lockAtLeastFor from the extension',
    caughtBy: 'lockAtLeastFor counts from the grant, not from an extension (P5)',
    breaks: (store) => ({
      extendedUntilMs: (row, { lockAtMostForMs }) => {
        row.lockedAtMs = store.nowMs();
        return store.nowMs() + lockAtMostForMs;
      },
    }),
  },
  {
    does: 'releases for every caller',
    caughtBy: 'a stale holder does not release the lock of the next holder in the same process (P6)',
    breaks: (store) => ({
      release(request) {
        const row = store.rows.get(request.name);
        if (row !== undefined) row.lockUntilMs = store.releasedUntilMs(row, request);
        return row !== undefined;
      },
    }),
  },
  {
    does: 'always returns true from a release',
    caughtBy:
      'a release that finds no record never returns true, and is settled when the lease ends (P6, F-60)',
    breaks: ({ release }) => ({ release: (request) => release(request) || true }),
  },
  {
    does: 'never returns true from a release',
    caughtBy: 'disposing of a lease releases it (P6)',
    breaks: ({ unlock }) => ({ unlock: (request) => unlock(request).then(() => false) }),
  },
  {
    does: 'releases nothing',
    caughtBy:
      'a reply that leaves less than a quarter of its lease is an error, and the lock is released (P7)',
    breaks: () => ({ release: () => true }),
  },
  {
    does: 'ignores lockAtLeastFor at the release',
    caughtBy: 'a lock is not granted again before lockAtLeastFor, even if the job has failed (P5)',
    breaks: (store) => ({ releasedUntilMs: () => store.nowMs() }),
  },
  {
    does: 'counts lockAtLeastFor from the release',
    caughtBy: 'lockAtLeastFor counts from the grant, not from the release (P5)',
    breaks: (store) => ({ releasedUntilMs: (_, { lockAtLeastForMs }) => store.nowMs() + lockAtLeastForMs }),
  },
  {
    does: 'keeps the lock for lockAtLeastFor after a longer run',
    caughtBy: 'a job that runs longer than lockAtLeastFor frees its lock at once (P5)',
    breaks: (store) => ({
      releasedUntilMs: ({ lockedAtMs }, { lockAtLeastForMs }) =>
        store.nowMs() > lockedAtMs ? store.nowMs() + lockAtLeastForMs : lockedAtMs + lockAtLeastForMs,
    }),
  },
  {
    does: 'deletes the record at the release',
    caughtBy: 'a lock is not granted again before lockAtLeastFor, even if the job has ended (P5)',
    breaks: (store) => ({
      release({ name, owner }) {
        return store.rows.get(name)?.lockedBy === owner && store.rows.delete(name);
      },
    }),
  },
];
