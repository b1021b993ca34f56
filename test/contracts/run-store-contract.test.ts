import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError } from 'cronlatch';
import { type ContractCase } from 'cronlatch/contracts';
import { memoryRunsFixture } from '../support/stores/run-fixtures';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import { runStoreContract } from '../support/run-store-contract';

const LACKS = { ambientTransaction: 'it has no transactions', staleReads: 'it has no replicas' } as const;

function caseOf(contract: readonly ContractCase[], part: string): ContractCase {
  const found = contract.find(({ name }) => name.includes(part));
  assert.ok(found, part);
  return found;
}

void test('each case has a distinct name that ends with a promise or a situation of the ledger', () => {
  const names = runStoreContract(memoryRunsFixture, { lacks: LACKS }).map(({ name }) => name);
  assert.ok(names.length > 60);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /\S \(L([1-7]|-\d\d)(, [FL]-?\d+)*\)$/);
});

void test('only cases that need a missing capability are skipped, with the reason, and they reject if they are run', async () => {
  const contract = runStoreContract(memoryRunsFixture, { lacks: LACKS });
  const skipped = contract.filter(({ skip }) => skip !== undefined);
  assert.ok(skipped.length > 0);
  for (const { name, skip, run } of skipped) {
    const [reason, lack] = name.startsWith('with stale reads')
      ? ['it has no replicas', 'staleReads']
      : ['it has no transactions', 'ambientTransaction'];
    assert.match(name, lack === 'staleReads' ? /F-36\)$/ : /\(L-11\)$/);
    assert.equal(skip, `${lack}: ${reason}`);
    await assert.rejects(run(), new RegExp(reason));
  }
});

void test('a fixture must have a function for exactly the capabilities that its store does not lack', async () => {
  // @ts-expect-error ambientTransaction is missing, and lacks does not explain why.
  const tooLittle = runStoreContract(memoryRunsFixture, { lacks: { staleReads: 'it has no replicas' } });
  await assert.rejects(caseOf(tooLittle, '(L1)').run(), {
    code: InvalidLockUseError.code,
    message: /^runStoreContract: .*offer ambientTransaction, or lacks\.ambientTransaction/,
  });
  const lacks = { ...LACKS, deleteRun: 'its runs cannot be deleted' };
  const tooMuch = runStoreContract(memoryRunsFixture, { lacks });
  await assert.rejects(caseOf(tooMuch, '(L1)').run(), /offers deleteRun, although lacks\.deleteRun is set/);
});

void test('a capability that stores of runs do not have cannot be lacked', () => {
  // @ts-expect-error A capability of locks.
  assert.throws(() => runStoreContract(memoryRunsFixture, { lacks: { ...LACKS, stall: 'no' } }), {
    code: InvalidLockUseError.code,
    message: /deleteRun, ambientTransaction, staleReads/,
  });
});

void test('a random case that fails reports its seed, and fails again with that seed', async () => {
  const forgetful = () => {
    const store = new InMemoryRunStore();
    store.overdue = () => Promise.resolve([]);
    return { ...memoryRunsFixture(), store, other: store };
  };
  const failure = async (seed?: number): Promise<string> => {
    const options = { lacks: LACKS, ...(seed === undefined ? {} : { seed }) };
    return await caseOf(runStoreContract(forgetful, options), 'random use')
      .run()
      .then(
        () => assert.fail('the case passed'),
        (error: Error) => error.message,
      );
  };
  const message = await failure();
  const seed = /^With seed (\d+): /.exec(message)?.[1];
  assert.ok(seed, message);
  assert.equal(await failure(Number(seed)), message);
});
