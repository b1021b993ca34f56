import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError } from 'cronlatch';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { lockProviderContract, type LackedCapabilities } from 'cronlatch/contracts';
import { SettableClock } from 'cronlatch/testing';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';

/** A store that has no optional capability. */
function plainFixture() {
  const clock = new SettableClock();
  const accessor = new InMemoryStorageAccessor(clock);
  return {
    provider: new StorageBasedLockProvider(accessor, { clock }),
    other: new StorageBasedLockProvider(accessor, { clock }),
    elapse: (duration: string | number) => clock.advance(duration),
    dispose: () => {},
  };
}

const LACKS = {
  deleteRecord: 'its records cannot be deleted',
  existingRecord: 'no other program writes to it',
  stall: 'its clock cannot be moved separately',
  ambientTransaction: 'it has no transactions',
  staleReads: 'it has no replicas',
} as const;

const caseOf = (contract: ReturnType<typeof lockProviderContract>, part: string) => {
  const found = contract.find(({ name }) => name.includes(part));
  assert.ok(found, part);
  return found;
};

void test('the contract has more than 60 cases, each with a distinct name that ends with its promise', () => {
  const names = lockProviderContract(plainFixture, { lacks: LACKS }).map(({ name }) => name);
  assert.ok(names.length > 60);
  assert.equal(new Set(names).size, names.length);
  const promises = names.map((name) => / \((P[1-9])(, [FP]-?\d+)*\)$/.exec(name)?.[1]);
  assert.deepEqual([...new Set(promises)].sort(), ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9']);
});

void test('a case that needs a missing capability is skipped with the reason, and rejects if it is run', async () => {
  const contract = lockProviderContract(plainFixture, { lacks: LACKS });
  const { skip, run } = caseOf(contract, '(P8)');
  assert.equal(skip, 'ambientTransaction: it has no transactions');
  await assert.rejects(run(), /it has no transactions/);
});

void test('a case that needs no missing capability is not skipped', () => {
  const contract = lockProviderContract(plainFixture, { lacks: LACKS });
  const skipped = contract.filter(({ skip }) => skip !== undefined).length;
  assert.ok(skipped > 0 && contract.length - skipped > 60);
  const all = { ...LACKS, fencingTokens: 'none', observer: 'its provider has no observer' };
  const more = lockProviderContract(plainFixture, { lacks: all }).filter(({ skip }) => skip !== undefined);
  assert.ok(more.length > skipped);
});

void test('a fixture with a missing function is reported by the compiler and by the case', async () => {
  // @ts-expect-error deleteRecord is missing, and lacks does not explain why.
  const contract = lockProviderContract(plainFixture);
  await assert.rejects(caseOf(contract, '(P1)').run(), (error) => {
    assert.ok(error instanceof InvalidLockUseError);
    assert.match(error.message, /offer deleteRecord, or lacks\.deleteRecord/);
    return true;
  });
});

void test('a fixture with a function that its store is declared to lack is reported', async () => {
  const create = () => ({ ...plainFixture(), stall: () => {} });
  const { run } = caseOf(lockProviderContract(create, { lacks: LACKS }), '(P1)');
  await assert.rejects(run(), /offers stall, although lacks\.stall is set/);
});

void test('an unknown capability cannot be lacked, and a known one cannot be lacked without a reason', () => {
  const contractOf = (lacks: LackedCapabilities) => () => lockProviderContract(plainFixture, { lacks });
  // @ts-expect-error Unknown capability.
  assert.throws(contractOf({ ...LACKS, fairness: 'no queue' }), InvalidLockUseError);
  // @ts-expect-error A reason is a text.
  assert.throws(contractOf({ ...LACKS, stall: true }), InvalidLockUseError);
  assert.throws(contractOf({ ...LACKS, stall: ' ' }), InvalidLockUseError);
});

void test('a random case that fails reports its seed, and fails again with that seed', async () => {
  const create = () => {
    const fixture = plainFixture();
    let asked = 0;
    const lock: typeof fixture.provider.lock = async (...args) =>
      (asked += 1) > 20 ? undefined : await fixture.provider.lock(...args);
    return { ...fixture, provider: { lock } };
  };
  const failure = async (seed?: number): Promise<string> => {
    const options = { lacks: LACKS, ...(seed === undefined ? {} : { seed }) };
    const { run } = caseOf(lockProviderContract(create, options), 'random use');
    return await run().then(
      () => assert.fail('the case passed'),
      (error: Error) => error.message,
    );
  };
  const message = await failure();
  const seed = /^With seed (\d+): /.exec(message)?.[1];
  assert.ok(seed, message);
  assert.equal(await failure(Number(seed)), message);
});

void test('every place is disposed of, whether its case passed or not', async () => {
  let open = 0;
  const create = () => {
    open += 1;
    return { ...plainFixture(), dispose: () => void (open -= 1) };
  };
  const broken = () => ({ ...create(), elapse: () => {} });
  await caseOf(lockProviderContract(create, { lacks: LACKS }), 'a lock of the same name in another').run();
  assert.equal(open, 0);
  await assert.rejects(caseOf(lockProviderContract(broken, { lacks: LACKS }), '(P4)').run());
  assert.equal(open, 0);
});
