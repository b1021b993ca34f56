import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageBasedLockProvider, type LockProvider } from 'cronlatch/provider';
import { lockProviderContract, type LockProviderFixture } from 'cronlatch/contracts';
import { SettableClock } from 'cronlatch/testing';
import { BreakableStore } from './contract-mutants/breakable-store';
import { BROKEN_GRANTS } from './contract-mutants/broken-grants';
import { BROKEN_LEASES } from './contract-mutants/broken-leases';
import { BROKEN_LOCKS } from './contract-mutants/broken-locks';
import { BROKEN_OPERATORS } from './contract-mutants/broken-operators';
import { BROKEN_PROVIDERS } from './contract-mutants/broken-providers';
import { BROKEN_TRANSACTIONS } from './contract-mutants/broken-transactions';
import { overlay } from './contract-mutants/overlay';

interface Bench extends LockProviderFixture {
  readonly stores: { readonly inside: BreakableStore; readonly outside: BreakableStore };
}

/** A correct store with every capability. In memory it cannot join a transaction. */
function rightFixture(breakStore: (store: BreakableStore) => Partial<BreakableStore> = () => ({})): Bench {
  const clock = new SettableClock();
  const rows: BreakableStore['rows'] = new Map();
  const waiters = new Map<string, () => void>();
  const storeOf = (): BreakableStore => {
    const store = new BreakableStore(clock, rows, waiters);
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
  ...[...BROKEN_GRANTS, ...BROKEN_LEASES].map(({ does, caughtBy, breaks }) => ({
    mutant: `a store that ${does}`,
    caughtBy,
    create: () => rightFixture(breaks),
  })),
  ...[...BROKEN_PROVIDERS, ...BROKEN_LOCKS, ...BROKEN_OPERATORS].map(({ does, caughtBy, breaks }) => ({
    mutant: `a provider that ${does}`,
    caughtBy,
    create: () => withProviders(breaks),
  })),
  ...BROKEN_TRANSACTIONS.map(({ does, caughtBy, run }) => ({
    mutant: `a store that ${does}`,
    caughtBy,
    create: (): LockProviderFixture => {
      const bench = rightFixture();
      return { ...bench, ambientTransaction: (end, body) => run(bench.stores, end, body) };
    },
  })),
  {
    mutant: 'a place that is shared with every other',
    caughtBy: 'a lock of the same name in another place is another lock (P1)',
    create: () => (shared ??= rightFixture()),
  },
];

/** The names of the failing cases. */
async function failuresOf(create: () => LockProviderFixture): Promise<string[]> {
  const contract = lockProviderContract(create, { seed: 1, fuzzedNames: 100 });
  const results = await Promise.allSettled(contract.map(({ run }) => run()));
  return contract.filter((_, i) => results[i]?.status === 'rejected').map(({ name }) => name);
}

void test('a correct store passes', async () => {
  assert.deepEqual(await failuresOf(rightFixture), []);
});

/** Several at once, because some cases fail only after a timeout. */
const lanes = Array.from({ length: 10 }, () => Promise.resolve<string[]>([]));
const failures = MUTANTS.map(({ create }, i) => {
  const lane = i % lanes.length;
  return (lanes[lane] = lanes[lane]!.then(() => failuresOf(create)));
});

for (const [i, { mutant, caughtBy }] of MUTANTS.entries()) {
  void test(`${mutant} is caught`, async () => {
    const caught = await failures[i];
    assert.ok(caught?.includes(caughtBy), `caught by: ${caught?.join('\n') || 'nothing'}`);
  });
}

void test('every case catches one of the mutants', async () => {
  const caught = new Set((await Promise.all(failures)).flat());
  const names = lockProviderContract(rightFixture).map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) => !caught.has(name)),
    [],
  );
});
