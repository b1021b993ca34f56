import type { BrokenStore } from './breakable-store';

export const BROKEN_GRANTS: readonly BrokenStore[] = [
  {
    does: 'inserts over an existing record',
    caughtBy: 'a held lock is refused to another instance (P1)',
    breaks: (store) => ({ insert: (request) => store.grant(request) }),
  },
  {
    does: 'takes over a held lock',
    caughtBy: 'a held lock is refused to the same provider: the acquisition owns it, not the process (P1)',
    breaks: () => ({ isFree: () => true }),
  },
  {
    does: 'never takes over',
    caughtBy: 'the lock of a crashed holder is granted when lockAtMostFor has passed, not before (P4)',
    breaks: () => ({ takeOver: () => undefined }),
  },
  {
    does: 'refuses everything',
    caughtBy: 'a free lock is granted, under its name (P1)',
    breaks: () => ({ insert: () => undefined, takeOver: () => undefined }),
  },
  {
    does: 'takes over one moment too late',
    caughtBy: 'a released lock is granted again at once, ten times in a row (P1)',
    breaks: (store) => ({ isFree: (row) => row.lockUntilMs < store.nowMs() }),
  },
  {
    does: 'takes over a minute too early',
    caughtBy: 'the lock of a crashed holder is also granted to the same process (P4)',
    breaks: (store) => ({ isFree: (row) => row.lockUntilMs <= store.nowMs() + 60_000 }),
  },
  {
    does: 'takes over only released locks',
    caughtBy: 'one of many simultaneous callers gets an expired lock (P1)',
    breaks: (store) => ({
      isFree: (row) => row.lockedBy.endsWith('/released') && row.lockUntilMs <= store.nowMs(),
    }),
  },
  {
    does: 'takes over only records with an owner',
    caughtBy: 'a record without an owner is held until it expires, and then free (P4)',
    breaks: (store) => ({ isFree: (row) => row.lockedBy !== '' && row.lockUntilMs <= store.nowMs() }),
  },
  {
    does: 'takes over only records that expired long ago',
    caughtBy: 'a record that has just expired is taken over (P4)',
    breaks: (store) => ({ isFree: (row) => row.lockUntilMs <= store.nowMs() - 1000 }),
  },
  {
    does: 'takes over only records that expired recently',
    caughtBy: 'a record that expired long ago is taken over (P4)',
    breaks: (store) => ({
      isFree: (row) => row.lockUntilMs <= store.nowMs() && row.lockUntilMs > store.nowMs() - 86_400_000,
    }),
  },
  {
    does: 'reads first, and writes later',
    caughtBy: 'one of many simultaneous callers gets a new lock (P1)',
    breaks: (store) => ({
      async insertRecord(request) {
        const isThere = store.rows.has(request.name);
        await Promise.resolve();
        return isThere ? undefined : store.grant(request);
      },
      async updateRecord(request) {
        const row = store.rows.get(request.name);
        const isFree = row !== undefined && store.isFree(row);
        await Promise.resolve();
        return isFree ? store.grant(request) : undefined;
      },
    }),
  },
  {
    does: 'keeps one lock for all names',
    caughtBy: 'two names are two locks (P1)',
    breaks: () => ({ key: () => 'the lock' }),
  },
  {
    does: 'ignores case',
    caughtBy: 'names that look or sort alike are separate locks (P1, F-65)',
    breaks: () => ({ key: (name) => name.toLowerCase() }),
  },
  {
    does: 'ignores accents',
    caughtBy: 'names that look or sort alike are separate locks (P1, F-65)',
    breaks: () => ({ key: (name) => name.normalize('NFD').replace(/\p{M}/gu, '') }),
  },
  {
    does: 'truncates names by code units',
    caughtBy:
      'the limit counts characters, not code units: 64 characters outside the basic plane are kept exactly (P7, F-66)',
    breaks: () => ({ key: (name) => name.slice(0, 64) }),
  },
  {
    does: 'truncates names to 63 characters',
    caughtBy:
      'a name of 64 characters is kept exactly, and a longer one is kept exactly or refused (P7, F-66)',
    breaks: () => ({ key: (name) => [...name].slice(0, 63).join('') }),
  },
  {
    does: 'keeps only the first letter of a name',
    caughtBy: 'random names are separate locks (P1, F-67)',
    breaks: () => ({ key: (name) => name.slice(0, 1) }),
  },
  {
    does: 'removes quotes from names',
    caughtBy: 'names with SQL or template syntax are ordinary names (P1, F-67)',
    breaks: () => ({ key: (name) => name.replace(/['"\\;]/g, '') }),
  },
  {
    does: 'treats a name as a pattern',
    caughtBy: 'names with SQL or template syntax are ordinary names (P1, F-67)',
    breaks: (store) => ({
      key: (name) => (name.includes('%') ? ([...store.rows.keys()][0] ?? name) : name),
    }),
  },
  {
    does: 'gives every grant the same token',
    caughtBy: 'tokens rise with every grant, after a release and after an expiry (P3)',
    breaks: () => ({ nextToken: () => 1 }),
  },
  {
    does: 'restarts tokens at one',
    caughtBy: 'tokens also rise after the record was deleted while the lock was held (P3, F-60)',
    breaks: () => ({ nextToken: (row) => (row?.fencingToken ?? 0) + 1 }),
  },
  {
    does: 'takes tokens from the clock alone',
    caughtBy: 'tokens rise even if grants follow each other immediately (P3)',
    breaks: (store) => ({ nextToken: () => store.nowMs() * 1000 + 1 }),
  },
  {
    does: 'returns tokens that are not integers',
    caughtBy: 'a token is an integer above zero (P3)',
    breaks: () => ({ nextToken: (row) => (row?.fencingToken ?? 0) - 0.5 }),
  },
  {
    does: 'returns no token if the record had none',
    caughtBy: 'tokens rise from a record that has none (P3)',
    breaks: () => ({ nextToken: (row) => (row?.fencingToken === 0 ? 0 : (row?.fencingToken ?? 0) + 1) }),
  },
  {
    does: 'adds lockAtLeastFor to the grant',
    caughtBy: 'with lockAtLeastFor, a crashed holder blocks no longer than lockAtMostFor (P4)',
    breaks: (store) => ({
      grantedUntilMs: ({ lockAtMostForMs, lockAtLeastForMs }) =>
        store.nowMs() + lockAtMostForMs + lockAtLeastForMs,
    }),
  },
  {
    does: 'grants for lockAtLeastFor only',
    caughtBy: 'with lockAtLeastFor, a crashed holder blocks no longer than lockAtMostFor (P4)',
    breaks: (store) => ({ grantedUntilMs: ({ lockAtLeastForMs }) => store.nowMs() + lockAtLeastForMs }),
  },
  {
    does: 'grants for at most 31 days',
    caughtBy: 'a lease of 365 days, the longest, is still held on its last day (P4)',
    breaks: (store) => ({
      grantedUntilMs: ({ lockAtMostForMs }) => store.nowMs() + Math.min(lockAtMostForMs, 31 * 86_400_000),
    }),
  },
  {
    does: 'keeps its times in whole minutes',
    caughtBy: 'durations can be numbers, sums and ISO 8601 (P4)',
    breaks: (store) => ({
      grantedUntilMs: ({ lockAtMostForMs }) => Math.ceil((store.nowMs() + lockAtMostForMs) / 60_000) * 60_000,
    }),
  },
  {
    does: 'prolongs a lock with every refusal',
    caughtBy: 'refusals do not prolong the wait (P4)',
    breaks: (store) => ({
      isFree(row) {
        const isFree = row.lockUntilMs <= store.nowMs();
        if (!isFree) row.lockUntilMs += 1000;
        return isFree;
      },
    }),
  },
  {
    does: 'writes to the holder’s record with every refusal',
    caughtBy: 'a refusal does not affect the holder (P1)',
    breaks: (store) => ({
      insert(request) {
        const row = store.rows.get(request.name);
        if (row !== undefined) row.lockedBy = request.owner;
        return row === undefined ? store.grant(request) : undefined;
      },
    }),
  },
  {
    does: 'does not return records',
    caughtBy: 'a refused caller can learn who holds the lock, and until when (P1)',
    breaks: () => ({ read: () => undefined }),
  },
  {
    does: 'returns every record as held',
    caughtBy: 'a record that was deleted while the lock was free is recreated within a minute (P4, F-61)',
    breaks: (store) => ({
      read: () => ({
        lockedBy: 'somebody',
        held: true,
        lockUntil: new Date(store.nowMs()),
        fencingToken: 1,
      }),
    }),
  },
];
