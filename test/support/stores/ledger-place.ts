import type { JobGuard, CronlatchEvents, Duration } from 'cronlatch';
import type { EventName } from 'cronlatch/provider';
import { EventHub, StorageBasedLockProvider, type LockProvider } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';
import { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import type { RunStore } from '#cronlatch/ledger/run-store';
import { newGuard, type GuardOptions } from '../benches/guard-with-runs';

/** One process of the application, with everything that belongs to it alone. */
export interface Instance {
  readonly guard: JobGuard;
  readonly lockProvider: LockProvider;
  readonly store: RunStore;
  /** The events with this name so far. */
  of<K extends EventName>(name: K): readonly CronlatchEvents[K][];
}

interface RecordedEvent {
  readonly name: EventName;
  readonly event: unknown;
}

/** Locks and runs that several instances share, and a time that stands still until the test moves it. */
export interface LedgerPlace {
  readonly clock: SettableClock;
  instance(options?: Partial<GuardOptions>): Instance;
  /**
   * Lets time pass for the database and for the clocks of all instances alike. Timers that fall due in this
   * time fire.
   */
  elapse(duration: Duration): Promise<void>;
}

/** The parts that each kind of store provides. */
export interface PlaceStores {
  readonly clock: SettableClock;
  /** Another process's view of the same locks and runs. */
  connect(): { lockProvider: LockProvider; store: RunStore };
  elapse(duration: Duration): Promise<void>;
}

/** The time at which a test begins by default: a Friday, 04:00 in Paris. */
export const BEGINNING = '2026-11-20T03:00:00Z';

export function memoryStores(now: string): PlaceStores {
  const clock = new SettableClock(now);
  const accessor = new InMemoryStorageAccessor(clock);
  const runs = new InMemoryRuns({ clock });
  return {
    clock,
    connect: () => ({
      // The same id for all, as with the SQL store.
      lockProvider: new StorageBasedLockProvider(accessor, { clock, id: 'memory' }),
      store: new InMemoryRunStore({ runs }),
    }),
    elapse: (duration) => Promise.resolve(clock.advance(duration)),
  };
}

const NAMES: readonly EventName[] = [
  ...([
    'lock:acquired',
    'lock:skipped',
    'lock:failed',
    'lock:lost',
    'lock:released',
    'run:started',
    'run:completed',
  ] as const),
  ...([
    'run:failed',
    'run:skipped',
    'run:givenBack',
    'run:takenOver',
    'run:interrupted',
    'run:stuck',
    'guard:warning',
  ] as const),
];

/** @returns the place, and a function that closes its guards */
export function ledgerPlace(stores: PlaceStores): { place: LedgerPlace; close: () => Promise<void> } {
  const guards: JobGuard[] = [];
  const { clock } = stores;
  const instance = (options: Partial<GuardOptions> = {}): Instance => {
    const { lockProvider, store } = stores.connect();
    const events = new EventHub();
    const guard = newGuard({
      ...{ lockProvider, runStore: store, clock, events, logger: false, pollInterval: false },
      ...options,
    });
    guards.push(guard);
    const recorded: RecordedEvent[] = [];
    for (const name of NAMES) events.on(name, (event) => recorded.push({ name, event }));
    const of = <K extends EventName>(name: K): CronlatchEvents[K][] =>
      recorded.filter((each) => each.name === name).map(({ event }) => event as CronlatchEvents[K]);
    return { guard, lockProvider, store, of };
  };
  return {
    place: { clock, instance, elapse: (duration) => stores.elapse(duration) },
    close: async () => void (await Promise.all(guards.map((guard) => guard.close({ timeout: 0 })))),
  };
}
