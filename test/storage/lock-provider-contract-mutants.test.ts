import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { StorageBasedLockProvider, type LockProvider } from 'cronlatch/provider';
import { lockProviderContract, type LockProviderFixture } from 'cronlatch/contracts';
import { SettableClock } from 'cronlatch/testing';
import { BreakableStore } from './contract-mutants/breakable-store';
import { BROKEN_GRANTS } from './contract-mutants/broken-grants';
import { BROKEN_LEASES } from './contract-mutants/broken-leases';
import { BROKEN_LOCKS } from './contract-mutants/broken-locks';
import { BROKEN_OPERATORS } from './contract-mutants/broken-operators';
import { BROKEN_PROVIDERS } from './contract-mutants/broken-providers';
import { BROKEN_READS } from './contract-mutants/broken-reads';
import { BROKEN_TRANSACTIONS } from './contract-mutants/broken-transactions';
import { mutantsOf, overlay } from './contract-mutants/overlay';

interface Bench extends LockProviderFixture {
  readonly stores: { readonly inside: BreakableStore; readonly outside: BreakableStore };
}

/** A correct store with every capability. In memory it cannot join a transaction. */
function rightFixture(breakStore: (store: BreakableStore) => Partial<BreakableStore> = () => ({})): Bench {
  const clock = new SettableClock();
  const rows: BreakableStore['rows'] = new Map();
  const waiters = new Map<string, () => void>();
  const replica: ConstructorParameters<typeof BreakableStore>[3] = {};
  const storeOf = (): BreakableStore => {
    const store = new BreakableStore(clock, rows, waiters, replica);
    return Object.assign(store, breakStore(store));
  };
  const stores = { inside: storeOf(), outside: storeOf() };
  const { outside } = stores;
  return {
    stores,
    provider: providerOf(stores.inside, clock),
    other: providerOf(outside, clock),
    elapse: (duration) => clock.advance(duration),
    stall: (duration) => clock.stall(duration),
    deleteRecord: (name) => void outside.rows.delete(name),
    existingRecord({ name, lockedBy, endsInMs }) {
      const nowMs = outside.nowMs();
      outside.rows.set(name, {
        lockedBy,
        lockedAtMs: nowMs,
        lockUntilMs: nowMs + endsInMs,
        fencingToken: 0,
      });
    },
    ambientTransaction: (_, body) => body(),
    staleReads: () => outside.makeReadsStale(),
    dispose: () => {},
  };
}

function providerOf(store: BreakableStore, clock: SettableClock): LockProvider {
  const provider = new StorageBasedLockProvider(store, { clock, id: 'one place' });
  return Object.assign(provider, { released: store.released });
}

function withProviders(breaks: (provider: LockProvider) => Partial<LockProvider>): LockProviderFixture {
  const { provider, other, ...fixture } = rightFixture();
  return { ...fixture, provider: overlay(provider, breaks(provider)), other: overlay(other, breaks(other)) };
}

let shared: Bench | undefined;

const MUTANTS = [
  ...mutantsOf('store', [BROKEN_GRANTS, BROKEN_LEASES, BROKEN_READS], rightFixture),
  ...mutantsOf('provider', [BROKEN_PROVIDERS, BROKEN_LOCKS, BROKEN_OPERATORS], withProviders),
  ...mutantsOf('store', [BROKEN_TRANSACTIONS], (run): LockProviderFixture => {
    const bench = rightFixture();
    return { ...bench, ambientTransaction: (end, body) => run(bench.stores, end, body) };
  }),
  {
    mutant: 'a place that is shared with every other',
    caughtBy: 'a lock of the same name in another place is another lock (P1)',
    create: () => (shared ??= rightFixture()),
  },
];

const OPTIONS = { seed: 1, fuzzedNames: 100 } as const;

void test('a correct store passes', async () => {
  await Promise.all(lockProviderContract(rightFixture, OPTIONS).map(({ run }) => run()));
});

// Some cases fail only after a timeout.
void suite('mutants', { concurrency: 10 }, () => {
  for (const { mutant, caughtBy, create } of MUTANTS)
    void test(`${mutant} is caught`, async () => {
      const contractCase = lockProviderContract(create, OPTIONS).find(({ name }) => name === caughtBy);
      assert.ok(contractCase, caughtBy);
      await assert.rejects(contractCase.run());
    });
});

/** The other cases fail if there are no locks at all. */
const NO_LOCKS = () => rightFixture(() => ({ insert: () => undefined, takeOver: () => undefined }));

void test('every case catches one of the mutants', async () => {
  const caughtBy = new Set(MUTANTS.map((mutant) => mutant.caughtBy));
  const others = lockProviderContract(NO_LOCKS, OPTIONS).filter(({ name }) => !caughtBy.has(name));
  const results = await Promise.allSettled(others.map(({ run }) => run()));
  assert.deepEqual(
    others.filter((_, i) => results[i]?.status === 'fulfilled').map(({ name }) => name),
    [],
  );
});
