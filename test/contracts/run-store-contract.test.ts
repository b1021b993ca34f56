import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError } from 'cronlatch';
import { InMemoryRunStore } from 'cronlatch/memory';
import { runStoreContract, type ContractCase } from 'cronlatch/contracts';
import { memoryRunsFixture } from '../support/run-store-fixtures';

const LACKS = { ambientTransaction: 'there are no transactions' } as const;

function caseOf(contract: readonly ContractCase[], start: string): ContractCase {
  const found = contract.find(({ name }) => name.startsWith(start));
  assert.ok(found, start);
  return found;
}

void test('each case has a name of its own, which begins with a promise or a situation of the ledger', () => {
  const names = runStoreContract(memoryRunsFixture, { lacks: LACKS }).map(({ name }) => name);
  assert.ok(names.length > 60);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^L([1-7]|-\d\d) \S/);
});

void test('only what needs a lacking capability is skipped, says why, and cannot seem to pass', async () => {
  const contract = runStoreContract(memoryRunsFixture, { lacks: LACKS });
  const skipped = contract.filter(({ skip }) => skip !== undefined);
  assert.deepEqual([...new Set(skipped.map(({ name }) => name.slice(0, 4)))], ['L-11']);
  for (const { skip, run } of skipped) {
    assert.equal(skip, 'ambientTransaction: there are no transactions');
    await assert.rejects(run(), /there are no transactions/);
  }
});

void test('a fixture must offer what its store does not lack, and nothing else', async () => {
  // @ts-expect-error There is no ambientTransaction, and nothing says why.
  const tooLittle = runStoreContract(memoryRunsFixture);
  await assert.rejects(caseOf(tooLittle, 'L1 ').run(), {
    code: InvalidLockUseError.code,
    message: /^runStoreContract: .*offer ambientTransaction, or lacks\.ambientTransaction/,
  });
  const lacks = { ...LACKS, deleteRun: 'nobody deletes' };
  const tooMuch = runStoreContract(memoryRunsFixture, { lacks });
  await assert.rejects(caseOf(tooMuch, 'L1 ').run(), /offers deleteRun, which lacks\.deleteRun denies/);
});

void test('what is no capability of a store of runs cannot be lacked', () => {
  // @ts-expect-error That is one of locks.
  assert.throws(() => runStoreContract(memoryRunsFixture, { lacks: { ...LACKS, stall: 'no' } }), {
    code: InvalidLockUseError.code,
    message: /deleteRun, ambientTransaction/,
  });
});

void test('a random case that fails tells its seed, with which it fails again', async () => {
  const forgetful = () => {
    const store = new InMemoryRunStore();
    store.owed = () => Promise.resolve([]);
    return { ...memoryRunsFixture(), store, other: store };
  };
  const failure = async (seed?: number): Promise<string> => {
    const options = { lacks: LACKS, ...(seed === undefined ? {} : { seed }) };
    return await caseOf(runStoreContract(forgetful, options), 'L3 random use')
      .run()
      .then(
        () => assert.fail('it passed'),
        (error: Error) => error.message,
      );
  };
  const message = await failure();
  const seed = /^With seed (\d+): /.exec(message)?.[1];
  assert.ok(seed, message);
  assert.equal(await failure(Number(seed)), message);
});
