import { test } from 'node:test';
import fc from 'fast-check';
import { closing } from '../../support/benches/closing';
import { sampleSize } from '../../support/checks/sample-size';
import { BEGINNING, ledgerPlace, memoryStores, type LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';
import { commands } from './commands';
import { RunBench } from './run-bench';
import { RunModel, type ModelPolicy } from './run-model';

const policies: fc.Arbitrary<ModelPolicy> = fc.record({
  maxAttempts: fc.integer({ min: 1, max: 4 }),
  onCrash: fc.constantFrom('retry', 'hold'),
  until: fc.constantFrom(undefined, 12, 30),
});

/** A failure prints the seed and the shortest failing sequence. */
async function tryRuns(numRuns: number, benchOf: (policy: ModelPolicy) => Promise<RunBench>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      policies,
      fc.commands(commands, { maxCommands: 30, size: 'max' }),
      async (policy, run) => {
        await using bench = closing(await benchOf(policy));
        await fc.asyncModelRun(() => ({ model: new RunModel(policy), real: bench }), run);
      },
    ),
    { numRuns },
  );
}

/** Each sequence uses its own job. */
function benchesAt(place: LedgerPlace): (policy: ModelPolicy) => Promise<RunBench> {
  const instance = place.instance();
  let jobs = 0;
  return async (policy) => {
    jobs += 1;
    const job = `job-${jobs}`;
    const nothing = { job, scope: '', periodKey: undefined, since: undefined };
    const { now } = await instance.store.peek(nothing, { timeoutMs: 5000 });
    return new RunBench(place, instance, job, policy, now);
  };
}

testLedger('any sequence of actions changes a run as the state table allows (L1–L4)', async (place) => {
  await tryRuns(sampleSize({ fast: 20, full: 200 }), benchesAt(place));
});

void test('in memory, very many sequences of actions change a run as the state table allows (L1–L4)', async () => {
  await tryRuns(sampleSize({ fast: 500, full: 10_000 }), (policy) =>
    benchesAt(ledgerPlace(memoryStores(BEGINNING)).place)(policy),
  );
});
