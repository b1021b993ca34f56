import type { BrokenStore } from './breakable-store';
import type { Mutants } from './overlay';

export const BROKEN_GRANTS: Mutants<BrokenStore> = {
  'a held lock is refused to the same provider, even inside its own lease: the acquisition owns it (P1)': {
    'takes over a held lock': () => ({ isFree: () => true }),
  },
  'the lock of a crashed holder is granted when lockAtMostFor has passed, not before (P4)': {
    'never takes over': () => ({ takeOver: () => undefined }),
    'takes over a minute too early': (store) => ({
      isFree: (row) => row.lockUntilMs <= store.nowMs() + 60_000,
    }),
  },
  'a free lock is granted, under its name (P1)': {
    'refuses everything': () => ({ insert: () => undefined, takeOver: () => undefined }),
  },
  'a released lock is granted again at once, to either instance (P1)': {
    'takes over one moment too late': (store) => ({ isFree: (row) => row.lockUntilMs < store.nowMs() }),
  },
  'one of many simultaneous callers gets a released or an expired lock, and none a held one (P1)': {
    'reads first, and updates later': (store) => ({
      async updateRecord(request) {
        const row = store.rows.get(request.name);
        const isFree = row !== undefined && store.isFree(row);
        await Promise.resolve();
        return isFree ? store.grant(request) : undefined;
      },
    }),
    'takes over only released locks': (store) => ({
      isFree: (row) => row.lockedBy.endsWith('/released') && row.lockUntilMs <= store.nowMs(),
    }),
  },
  'a record without an owner is held until it expires, and then free (P4)': {
    'takes over only records with an owner': (store) => ({
      isFree: (row) => row.lockedBy !== '' && row.lockUntilMs <= store.nowMs(),
    }),
  },
  'a record that has just expired, or did so long ago, is taken over (P4)': {
    'takes over only records that expired long ago': (store) => ({
      isFree: (row) => row.lockUntilMs <= store.nowMs() - 1000,
    }),
    'takes over only records that expired recently': (store) => ({
      isFree: (row) => row.lockUntilMs <= store.nowMs() && row.lockUntilMs > store.nowMs() - 86_400_000,
    }),
  },
  'when many simultaneous callers ask for ten locks, each lock goes to one caller (P1)': {
    'reads first, and inserts later': (store) => ({
      async insertRecord(request) {
        const isThere = store.rows.has(request.name);
        await Promise.resolve();
        return isThere ? undefined : store.grant(request);
      },
    }),
  },
  'two names are two locks (P1)': { 'keeps one lock for all names': () => ({ key: () => 'the lock' }) },
  'names that look or sort alike are separate locks (P1, F-65)': {
    'ignores case': () => ({ key: (name) => name.toLowerCase() }),
    'ignores accents': () => ({ key: (name) => name.normalize('NFD').replace(/\p{M}/gu, '') }),
  },
  'the limit counts characters, not code units: 64 characters outside the basic plane are kept exactly (P7, F-66)':
    { 'truncates names by code units': () => ({ key: (name) => name.slice(0, 64) }) },
  'a name of 64 characters is kept exactly, and a longer one is kept exactly or refused (P7, F-66)': {
    'truncates names to 63 characters': () => ({ key: (name) => [...name].slice(0, 63).join('') }),
  },
  'random names are separate locks (P1, F-67)': {
    'keeps only the first letter of a name': () => ({ key: (name) => name.slice(0, 1) }),
  },
  'names with SQL or template syntax are ordinary names (P1, F-67)': {
    'removes quotes from names': () => ({ key: (name) => name.replace(/['"\\;]/g, '') }),
    'treats a name as a pattern': (store) => ({
      key: (name) => (name.includes('%') ? ([...store.rows.keys()][0] ?? name) : name),
    }),
  },
  'tokens are integers above zero that rise with every grant, after a release and after an expiry (P3)': {
    'gives every grant the same token': () => ({ nextToken: () => 1 }),
    'returns tokens that are not integers': () => ({ nextToken: (row) => (row?.fencingToken ?? 0) + 0.5 }),
  },
  'tokens also rise after the record of a held or a free lock was deleted (P3, F-60, F-61)': {
    'restarts tokens at one': () => ({ nextToken: (row) => (row?.fencingToken ?? 0) + 1 }),
  },
  'tokens rise even if grants follow each other immediately (P3)': {
    'takes tokens from the clock alone': (store) => ({ nextToken: () => store.nowMs() * 1000 + 1 }),
  },
  'tokens rise from a record that has none (P3)': {
    'returns no token if the record had none': () => ({
      nextToken: (row) => (row?.fencingToken === 0 ? 0 : (row?.fencingToken ?? 0) + 1),
    }),
  },
  'with lockAtLeastFor, a crashed holder blocks no longer than lockAtMostFor (P4)': {
    'adds lockAtLeastFor to the grant': (store) => ({
      grantedUntilMs: ({ lockAtMostForMs, lockAtLeastForMs }) =>
        store.nowMs() + lockAtMostForMs + lockAtLeastForMs,
    }),
    'grants for lockAtLeastFor only': (store) => ({
      grantedUntilMs: ({ lockAtLeastForMs }) => store.nowMs() + lockAtLeastForMs,
    }),
  },
  'a lease of 365 days, the longest, is still held on its last day (P4)': {
    'grants for at most 31 days': (store) => ({
      grantedUntilMs: ({ lockAtMostForMs }) => store.nowMs() + Math.min(lockAtMostForMs, 31 * 86_400_000),
    }),
  },
  'durations can be numbers, sums and ISO 8601 (P4)': {
    'keeps its times in whole minutes': (store) => ({
      grantedUntilMs: ({ lockAtMostForMs }) => Math.ceil((store.nowMs() + lockAtMostForMs) / 60_000) * 60_000,
    }),
  },
  'refusals do not prolong the wait (P4)': {
    'prolongs a lock with every refusal': (store) => ({
      isFree(row) {
        const isFree = row.lockUntilMs <= store.nowMs();
        if (!isFree) row.lockUntilMs += 1000;
        return isFree;
      },
    }),
  },
  'a held lock is refused to another instance, which does not affect the holder (P1)': {
    'inserts over an existing record': (store) => ({ insert: (request) => store.grant(request) }),
    'writes to the holder’s record with every refusal': (store) => ({
      insert(request) {
        const row = store.rows.get(request.name);
        if (row !== undefined) row.lockedBy = request.owner;
        return row === undefined ? store.grant(request) : undefined;
      },
    }),
  },
  'a refused caller can learn who holds the lock, and until when (P1)': {
    'does not return records': () => ({ read: () => undefined }),
  },
  'a record that was deleted while the lock was free is recreated within a minute (P4, F-61)': {
    'returns every record as held': (store) => ({
      read: () => ({
        lockedBy: 'somebody',
        held: true,
        lockUntil: new Date(store.nowMs()),
        fencingToken: 1,
      }),
    }),
  },
};
