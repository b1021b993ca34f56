import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SettableClock } from 'cronlatch/testing';
import type { Run, RunKey } from '#cronlatch/ledger/run';
import type { RunStore } from '#cronlatch/ledger/run-store';
import { mutantsOf, overlay } from './contract-mutants/overlay';
import { BROKEN_CHANGES } from './run-store-mutants/broken-changes';
import { BROKEN_COMPLETIONS } from './run-store-mutants/broken-completions';
import { BROKEN_FINDS } from './run-store-mutants/broken-finds';
import { BROKEN_INSERTS } from './run-store-mutants/broken-inserts';
import { BROKEN_PEEKS } from './run-store-mutants/broken-looks';
import { BROKEN_PURGES } from './run-store-mutants/broken-purges';
import { BROKEN_READS } from './run-store-mutants/broken-reads';
import { BROKEN_REGISTERS } from './run-store-mutants/broken-registers';
import type { BrokenRuns, BrokenRunStore } from './run-store-mutants/broken-run-store';
import { BROKEN_TABLES } from './run-store-mutants/broken-tables';
import { BROKEN_TRANSACTIONS } from './run-store-mutants/broken-transactions';
import { InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import { runStoreContract } from '../support/run-store-contract';
import type { RunStoreFixture } from '../support/run-store-contract/fixture';

interface Breaks {
  readonly table?: BrokenRuns;
  readonly store?: BrokenRunStore;
}

interface Bench extends RunStoreFixture {
  readonly runs: InMemoryRuns;
}

/** A correct store, except for the mutation. In memory it cannot join a transaction. */
function fixtureWith({ table = () => ({}), store = () => ({}) }: Breaks = {}): Bench {
  const clock = new SettableClock();
  const runs = new InMemoryRuns({ clock });
  const textOf = ({ job, scope, periodKey }: RunKey): string => JSON.stringify([job, scope, periodKey]);
  let replica: ReadonlyMap<string, Run> | undefined;
  const plainRead = (key: RunKey): Run | undefined =>
    replica === undefined ? runs.row(key)?.run : replica.get(textOf(key));
  const storeOf = (): RunStore => {
    const broken = overlay(runs, table({ runs, clock }));
    const right = new InMemoryRunStore({ runs: broken });
    return overlay<RunStore>(right, store({ store: right, runs: broken, clock, plainRead }));
  };
  return {
    runs,
    store: storeOf(),
    other: storeOf(),
    elapse: (duration) => clock.advance(duration),
    deleteRun: (key) => void overlay(runs, table({ runs, clock })).delete(key),
    ambientTransaction: (_, body) => body(),
    async staleReads() {
      const query = { order: 'oldest-first', limit: 1000 } as const;
      const found = await new InMemoryRunStore({ runs }).find(query);
      replica = new Map(found.map((run) => [textOf(run), run]));
    },
    dispose: () => {},
  };
}

let shared: Bench | undefined;

const MUTANTS = [
  ...mutantsOf('store', [BROKEN_TABLES], (table) => fixtureWith({ table })),
  ...mutantsOf(
    'store',
    [
      ...[BROKEN_INSERTS, BROKEN_CHANGES, BROKEN_COMPLETIONS],
      ...[BROKEN_PEEKS, BROKEN_FINDS, BROKEN_PURGES, BROKEN_REGISTERS, BROKEN_READS],
    ],
    (store) => fixtureWith({ store }),
  ),
  ...mutantsOf('store', [BROKEN_TRANSACTIONS], (run): RunStoreFixture => {
    const bench = fixtureWith();
    const { store: inside, runs } = bench;
    return { ...bench, ambientTransaction: (end, body) => run({ inside, runs }, end, body) };
  }),
  {
    mutant: 'a place that is shared with every other',
    caughtBy: 'a run of the same key in another place is another run (L1)',
    create: () => (shared ??= fixtureWith()),
  },
];

const OPTIONS = { seed: 1 } as const;

void test('a correct store passes', async () => {
  await Promise.all(runStoreContract(fixtureWith, OPTIONS).map(({ run }) => run()));
});

for (const { mutant, caughtBy, create } of MUTANTS)
  void test(`${mutant} is caught`, async () => {
    const contractCase = runStoreContract(create, OPTIONS).find(({ name }) => name === caughtBy);
    assert.ok(contractCase, caughtBy);
    await assert.rejects(contractCase.run());
  });

void test('every case catches one of the mutants', () => {
  const names = runStoreContract(fixtureWith).map(({ name }) => name);
  const caughtBy = new Set(MUTANTS.map((mutant) => mutant.caughtBy));
  assert.deepEqual(
    names.filter((name) => !caughtBy.has(name)),
    [],
  );
});
