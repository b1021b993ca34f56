import type { Lock } from 'cronlatch';
import type { LockProvider, LockRecord, LockRequest } from 'cronlatch/provider';
import { RELEASED_MARK } from '#cronlatch/core/lease/owner';
import type { BreakableStore } from '../../storage/contract-mutants/breakable-store';
import { BROKEN_GRANTS } from '../../storage/contract-mutants/broken-grants';
import { BROKEN_LEASES } from '../../storage/contract-mutants/broken-leases';
import { overlay } from '../../storage/contract-mutants/overlay';
import type { Breakage } from './schedule';

export interface PlantedBug extends Breakage {
  readonly does: string;
  /** The first seed that reveals it. */
  readonly seed: number;
}

/**
 * The contract's broken stores whose bugs show in the simulation, with its few names and leases of seconds.
 */
const OF_THE_CONTRACT: readonly (readonly [does: string, seed: number])[] = [
  ['inserts over an existing record', 1],
  ['takes over a held lock', 1],
  ['takes over one moment too late', 31],
  ['takes over a minute too early', 1],
  ['takes over only released locks', 1],
  ['gives every grant the same token', 1],
  ['restarts tokens at one', 6],
  ['takes tokens from the clock alone', 553],
  ['grants for lockAtLeastFor only', 1],
  ['adds lockAtLeastFor to the grant', 2],
  ['writes to the holder’s record with every refusal', 1],
  ['returns every record as held', 2],
  ['extends for every caller', 1],
  ['extends a missing record', 1],
  ['never extends', 1],
  ['ignores lockAtLeastFor at an extension', 13],
  ['releases for every caller', 1],
  ['always returns true from a release', 1],
  ['releases nothing', 1],
  ['ignores lockAtLeastFor at the release', 1],
  ['counts lockAtLeastFor from the release', 2],
  ['deletes the record at the release', 1],
];

/** In the simulation. */
const LONGEST_LEASE_MS = 3000;

function withLocks(change: (lock: Lock) => Partial<Lock>): Breakage {
  return {
    provider: (provider: LockProvider) => ({
      async lock(configuration, observer) {
        const lock = await provider.lock(configuration, observer);
        return lock && overlay(lock, change(lock));
      },
    }),
  };
}

const OF_THE_SIMULATION: readonly PlantedBug[] = [
  {
    does: "uses the host's clock instead of the database's",
    seed: 1,
    store: (_, localClock) => ({ nowMs: () => localClock.monotonicMs() }),
  },
  {
    does: 'extends and releases expired locks',
    seed: 1,
    store: () => ({ isHeldBy: (row, owner) => row.lockedBy === owner }),
  },
  {
    does: 'executes an extension after a later one',
    seed: 81,
    store: (store) => ({
      isHeldBy: (row, owner) => !store.isFree(row) && withoutNumber(row.lockedBy) === withoutNumber(owner),
    }),
  },
  {
    does: 'does not mark released records',
    seed: 2864,
    store: () => ({ releasedBy: (owner) => owner }),
  },
  {
    does: 'keeps the owner at a take-over',
    seed: 1,
    store: (store) => ({
      takeOver(request) {
        const row = store.rows.get(request.name);
        if (row === undefined || !store.isFree(row)) return undefined;
        const { lockedBy } = row;
        const owner = lockedBy.endsWith(RELEASED_MARK) ? request.owner : lockedBy;
        return store.grant({ ...request, owner });
      },
    }),
  },
  {
    does: 'resolves by a read that misses the last write',
    seed: 32,
    store(store) {
      const { insert, takeOver, renew, release } = store;
      let before: BreakableStore['rows'] = new Map();
      const remembering =
        <R extends LockRequest, T>(write: (request: R) => T) =>
        (request: R): T => {
          before = store.copyOfRows();
          return write(request);
        };
      return {
        insert: remembering(insert),
        takeOver: remembering(takeOver),
        renew: remembering(renew),
        release: remembering(release),
        read: (name) => recordIn(before, store, name),
      };
    },
  },
  {
    does: 'remembers forever that a record existed',
    seed: 25,
    store(store) {
      const records = new Map<string, LockRecord>();
      return {
        read(name) {
          const record = recordIn(store.rows, store, name) ?? records.get(name);
          if (record !== undefined) records.set(name, record);
          return record;
        },
      };
    },
  },
  {
    does: 'counts the deadline from the reply',
    seed: 5,
    provider: (provider, clock) => ({
      async lock(configuration, observer) {
        const lock = await provider.lock(configuration, observer);
        if (lock === undefined) return undefined;
        const controller = new AbortController();
        const lockAtMostForMs = configuration.lockAtMostFor as number;
        clock.schedule(lockAtMostForMs, () => controller.abort(), { keepAlive: false });
        return overlay(lock, { signal: controller.signal });
      },
    }),
  },
  {
    does: 'does not notice a suspension that is shorter than its lease',
    seed: 110,
    clock: (clock) => ({
      wallMs() {
        const aheadMs = clock.wallMs() - clock.monotonicMs();
        return clock.monotonicMs() + (aheadMs > LONGEST_LEASE_MS ? aheadMs : 0);
      },
    }),
  },
  { does: 'never aborts', seed: 1, ...withLocks(() => ({ signal: new AbortController().signal })) },
  { does: 'aborts the signal only in timers', seed: 37, ...withLocks(({ signal }) => ({ signal })) },
  {
    does: 'reports a release, and does not release',
    seed: 1,
    ...withLocks(() => ({ unlock: () => Promise.resolve(true) })),
  },
  {
    does: 'reports at every release that the lock was lost',
    seed: 1,
    ...withLocks((lock) => ({ unlock: () => lock.unlock().then(() => false) })),
  },
  {
    does: 'runs although it is unknown whether the lock was obtained',
    seed: 1,
    provider: (provider) => ({
      lock: (configuration, observer) =>
        provider.lock(configuration, observer).catch(() => lockOf(configuration.name)),
    }),
  },
];

/** Removes the number that an extension writes. */
function withoutNumber(owner: string): string {
  return owner.replace(/\/\d+$/, '');
}

function lockOf(name: string): Lock {
  return {
    name,
    fencingToken: 1,
    signal: new AbortController().signal,
    remainingMs: () => 1,
    unlock: () => Promise.resolve(true),
    extend: () => Promise.resolve(true),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function recordIn(rows: BreakableStore['rows'], store: BreakableStore, name: string): LockRecord | undefined {
  const row = rows.get(name);
  if (row === undefined) return undefined;
  const { lockedBy, lockUntilMs, fencingToken } = row;
  return { lockedBy, held: !store.isFree(row), lockUntil: new Date(lockUntilMs), fencingToken };
}

const OF_STORES = [BROKEN_GRANTS, BROKEN_LEASES].flatMap((table) => Object.values(table));

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...OF_THE_CONTRACT.map(([does, seed]) => {
    const store = OF_STORES.find((mistakes) => does in mistakes)?.[does];
    if (store === undefined) throw new Error(`No broken store ${does}.`);
    return { does, seed, store };
  }),
  ...OF_THE_SIMULATION,
];
