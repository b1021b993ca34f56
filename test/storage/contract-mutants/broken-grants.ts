import type { BrokenStore } from './breakable-store';

export const BROKEN_GRANTS: readonly BrokenStore[] = [
  {
    does: 'inserts over an existing record',
    caughtBy: 'P1 a held lock is refused to another instance',
    breaks: (store) => ({ insert: (request) => store.grant(request) }),
  },
  {
    does: 'takes over a held lock',
    caughtBy: 'P1 a held lock is refused to the same provider: the acquisition owns it, not the process',
    breaks: () => ({ isFree: () => true }),
  },
  {
    does: 'never takes over',
    caughtBy: 'P4 the lock of a crashed holder is granted when lockAtMostFor has passed, not before',
    breaks: () => ({ takeOver: () => undefined }),
  },
  {
    does: 'refuses everything',
    caughtBy: 'P1 a free lock is granted, under its name',
    breaks: () => ({ insert: () => undefined, takeOver: () => undefined }),
  },
  {
    does: 'takes over one moment too late',
    caughtBy: 'P1 a released lock is granted again at once, ten times in a row',
    breaks: (store) => ({ isFree: (row) => row.lockUntilMs < store.nowMs() }),
  },
  {
    does: 'takes over a minute too early',
    caughtBy: 'P4 the lock of a crashed holder is also granted to the same process',
    breaks: (store) => ({ isFree: (row) => row.lockUntilMs <= store.nowMs() + 60_000 }),
  },
  {
    does: 'takes over only released locks',
    caughtBy: 'P1 one of many simultaneous callers gets an expired lock',
    breaks: (store) => ({
      isFree: (row) => row.lockedBy.endsWith('/released') && row.lockUntilMs <= store.nowMs(),
    }),
  },
  {
    does: 'takes over only records with an owner',
    caughtBy: 'P4 a record without an owner is held until it expires, and then free',
    breaks: (store) => ({ isFree: (row) => row.lockedBy !== '' && row.lockUntilMs <= store.nowMs() }),
  },
  {
    does: 'takes over only records that expired long ago',
    caughtBy: 'P4 a record that has just expired is taken over',
    breaks: (store) => ({ isFree: (row) => row.lockUntilMs <= store.nowMs() - 1000 }),
  },
  {
    does: 'takes over only records that expired recently',
    caughtBy: 'P4 a record that expired long ago is taken over',
    breaks: (store) => ({
      isFree: (row) => row.lockUntilMs <= store.nowMs() && row.lockUntilMs > store.nowMs() - 86_400_000,
    }),
  },
  {
    does: 'reads first, and writes later',
    caughtBy: 'P1 one of many simultaneous callers gets a new lock',
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
    caughtBy: 'P1 two names are two locks',
    breaks: () => ({ key: () => 'the lock' }),
  },
  {
    does: 'ignores case',
    caughtBy: 'P1 F-65 names that look or sort alike are separate locks',
    breaks: () => ({ key: (name) => name.toLowerCase() }),
  },
  {
    does: 'ignores accents',
    caughtBy: 'P1 F-65 names that look or sort alike are separate locks',
    breaks: () => ({ key: (name) => name.normalize('NFD').replace(/\p{M}/gu, '') }),
  },
  {
    does: 'truncates names by code units',
    caughtBy:
      'P7 F-66 the limit counts characters, not code units: 64 characters outside the basic plane are kept exactly',
    breaks: () => ({ key: (name) => name.slice(0, 64) }),
  },
  {
    does: 'truncates names to 63 characters',
    caughtBy: 'P7 F-66 a name of 64 characters is kept exactly, and a longer one is kept exactly or refused',
    breaks: () => ({ key: (name) => [...name].slice(0, 63).join('') }),
  },
  {
    does: 'keeps only the first letter of a name',
    caughtBy: 'P1 F-67 random names are separate locks',
    breaks: () => ({ key: (name) => name.slice(0, 1) }),
  },
  {
    does: 'removes quotes from names',
    caughtBy: 'P1 F-67 names with SQL or template syntax are ordinary names',
    breaks: () => ({ key: (name) => name.replace(/['"\\;]/g, '') }),
  },
  {
    does: 'treats a name as a pattern',
    caughtBy: 'P1 F-67 names with SQL or template syntax are ordinary names',
    breaks: (store) => ({
      key: (name) => (name.includes('%') ? ([...store.rows.keys()][0] ?? name) : name),
    }),
  },
  {
    does: 'gives every grant the same token',
    caughtBy: 'P3 tokens rise with every grant, after a release and after an expiry',
    breaks: () => ({ nextToken: () => 1 }),
  },
  {
    does: 'restarts tokens at one',
    caughtBy: 'P3 F-60 tokens also rise after the record was deleted while the lock was held',
    breaks: () => ({ nextToken: (row) => (row?.fencingToken ?? 0) + 1 }),
  },
  {
    does: 'takes tokens from the clock alone',
    caughtBy: 'P3 tokens rise even if grants follow each other immediately',
    breaks: (store) => ({ nextToken: () => store.nowMs() * 1000 + 1 }),
  },
  {
    does: 'returns tokens that are not integers',
    caughtBy: 'P3 a token is an integer above zero',
    breaks: () => ({ nextToken: (row) => (row?.fencingToken ?? 0) - 0.5 }),
  },
  {
    does: 'returns no token if the record had none',
    caughtBy: 'P3 tokens rise from a record that has none',
    breaks: () => ({ nextToken: (row) => (row?.fencingToken === 0 ? 0 : (row?.fencingToken ?? 0) + 1) }),
  },
  {
    does: 'adds lockAtLeastFor to the grant',
    caughtBy: 'P4 with lockAtLeastFor, a crashed holder blocks no longer than lockAtMostFor',
    breaks: (store) => ({
      grantedUntilMs: ({ lockAtMostForMs, lockAtLeastForMs }) =>
        store.nowMs() + lockAtMostForMs + lockAtLeastForMs,
    }),
  },
  {
    does: 'grants for lockAtLeastFor only',
    caughtBy: 'P4 with lockAtLeastFor, a crashed holder blocks no longer than lockAtMostFor',
    breaks: (store) => ({ grantedUntilMs: ({ lockAtLeastForMs }) => store.nowMs() + lockAtLeastForMs }),
  },
  {
    does: 'grants for at most 31 days',
    caughtBy: 'P4 a lease of 365 days, the longest, is still held on its last day',
    breaks: (store) => ({
      grantedUntilMs: ({ lockAtMostForMs }) => store.nowMs() + Math.min(lockAtMostForMs, 31 * 86_400_000),
    }),
  },
  {
    does: 'keeps its times in whole minutes',
    caughtBy: 'P4 durations can be numbers, sums and ISO 8601',
    breaks: (store) => ({
      grantedUntilMs: ({ lockAtMostForMs }) => Math.ceil((store.nowMs() + lockAtMostForMs) / 60_000) * 60_000,
    }),
  },
  {
    does: 'prolongs a lock with every refusal',
    caughtBy: 'P4 refusals do not prolong the wait',
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
    caughtBy: 'P1 a refusal does not affect the holder',
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
    caughtBy: 'P1 a refused caller can learn who holds the lock, and until when',
    breaks: () => ({ read: () => undefined }),
  },
  {
    does: 'returns every record as held',
    caughtBy: 'P4 F-61 a record that was deleted while the lock was free is recreated within a minute',
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
