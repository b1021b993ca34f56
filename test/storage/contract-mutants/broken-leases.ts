import type { BrokenStore } from './breakable-store';

export const BROKEN_LEASES: readonly BrokenStore[] = [
  {
    does: 'extends for every caller',
    caughtBy: 'P6 F-60 a holder whose record was deleted does not touch the record of the next holder',
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
    caughtBy: 'P2 F-60 an extension that finds no record aborts the signal',
    breaks: () => ({ renew: () => true }),
  },
  {
    does: 'never extends',
    caughtBy: 'P4 a lease can be extended again and again',
    breaks: () => ({ renew: () => false }),
  },
  {
    does: 'does not change the owner at an extension',
    caughtBy: 'P4 a lease can be extended again and again',
    breaks: () => ({ extendedBy: ({ owner }) => owner }),
  },
  {
    does: 'only lengthens a lease',
    caughtBy: 'P4 a lease can be shortened',
    breaks: (store) => ({
      extendedUntilMs: (row, { lockAtMostForMs }) =>
        Math.max(row.lockUntilMs, store.nowMs() + lockAtMostForMs),
    }),
  },
  {
    does: 'extends from the end of the lease, not from now',
    caughtBy: 'P4 extend moves the end of the lease to now + lockAtMostFor',
    breaks: () => ({ extendedUntilMs: (row, { lockAtMostForMs }) => row.lockUntilMs + lockAtMostForMs }),
  },
  {
    does: 'extends by at most an hour',
    caughtBy: 'P4 a lease can be extended by more than its first length',
    breaks: (store) => ({
      extendedUntilMs: (_, { lockAtMostForMs }) => store.nowMs() + Math.min(lockAtMostForMs, 3_600_000),
    }),
  },
  {
    does: 'ignores lockAtLeastFor at an extension',
    caughtBy: 'P5 a short extension and a crash do not undercut lockAtLeastFor',
    breaks: (store) => ({ extendedUntilMs: (_, { lockAtMostForMs }) => store.nowMs() + lockAtMostForMs }),
  },
  {
    does: 'counts lockAtLeastFor from the extension',
    caughtBy: 'P5 lockAtLeastFor counts from the grant, not from an extension',
    breaks: (store) => ({
      extendedUntilMs: (row, { lockAtMostForMs }) => {
        row.lockedAtMs = store.nowMs();
        return store.nowMs() + lockAtMostForMs;
      },
    }),
  },
  {
    does: 'releases for every caller',
    caughtBy: 'P6 a stale holder does not release the lock of the next holder in the same process',
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
    caughtBy: 'P6 F-60 a release that finds no record returns false',
    breaks: ({ release }) => ({ release: (request) => release(request) || true }),
  },
  {
    does: 'never returns true from a release',
    caughtBy: 'P6 disposing of a lease releases it',
    breaks: ({ unlock }) => ({ unlock: (request) => unlock(request).then(() => false) }),
  },
  {
    does: 'releases nothing',
    caughtBy: 'P7 a reply that leaves less than a quarter of its lease is an error, and the lock is released',
    breaks: () => ({ release: () => true }),
  },
  {
    does: 'ignores lockAtLeastFor at the release',
    caughtBy: 'P5 a lock is not granted again before lockAtLeastFor, even if the job has failed',
    breaks: (store) => ({ releasedUntilMs: () => store.nowMs() }),
  },
  {
    does: 'counts lockAtLeastFor from the release',
    caughtBy: 'P5 lockAtLeastFor counts from the grant, not from the release',
    breaks: (store) => ({ releasedUntilMs: (_, { lockAtLeastForMs }) => store.nowMs() + lockAtLeastForMs }),
  },
  {
    does: 'keeps the lock for lockAtLeastFor after a longer run',
    caughtBy: 'P5 a job that runs longer than lockAtLeastFor frees its lock at once',
    breaks: (store) => ({
      releasedUntilMs: ({ lockedAtMs }, { lockAtLeastForMs }) =>
        store.nowMs() > lockedAtMs ? store.nowMs() + lockAtLeastForMs : lockedAtMs + lockAtLeastForMs,
    }),
  },
  {
    does: 'deletes the record at the release',
    caughtBy: 'P5 a lock is not granted again before lockAtLeastFor, even if the job has ended',
    breaks: (store) => ({
      release({ name, owner }) {
        return store.rows.get(name)?.lockedBy === owner && store.rows.delete(name);
      },
    }),
  },
];
