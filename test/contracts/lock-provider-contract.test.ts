import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError } from 'cronlatch';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { lockProviderContract, type LackedCapabilities } from 'cronlatch/contracts';
import { SettableClock } from 'cronlatch/testing';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-storage-accessor';

/** A store that has none of the means. */
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
  deleteRecord: 'records cannot be deleted',
  existingRecord: 'there is no other program',
  stall: 'the clock cannot be moved alone',
  ambientTransaction: 'there are no transactions',
} as const;

const caseOf = (contract: ReturnType<typeof lockProviderContract>, start: string) => {
  const found = contract.find(({ name }) => name.startsWith(start));
  assert.ok(found, start);
  return found;
};

void test('there are more than 60 cases, each of its own name, which begins with its promise', () => {
  const names = lockProviderContract(plainFixture, { lacks: LACKS }).map(({ name }) => name);
  assert.ok(names.length > 60);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^P[1-9] \S/);
  assert.deepEqual([...new Set(names.map((name) => name.slice(0, 2)))].sort(), [
    ...['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9'],
  ]);
});

void test('a case whose capability the store lacks says why, and cannot seem to pass', async () => {
  const contract = lockProviderContract(plainFixture, { lacks: LACKS });
  const { skip, run } = caseOf(contract, 'P8 ');
  assert.equal(skip, 'ambientTransaction: there are no transactions');
  await assert.rejects(run(), /there are no transactions/);
});

void test('what the store does not lack is not skipped', () => {
  const contract = lockProviderContract(plainFixture, { lacks: LACKS });
  const skipped = contract.filter(({ skip }) => skip !== undefined).length;
  assert.ok(skipped > 0 && contract.length - skipped > 60);
  const all = { ...LACKS, fencingTokens: 'none', observer: 'nobody is told' };
  const more = lockProviderContract(plainFixture, { lacks: all }).filter(({ skip }) => skip !== undefined);
  assert.ok(more.length > skipped);
});

void test('a fixture that offers less than it should is told so, by the compiler and by the case', async () => {
  // @ts-expect-error There is no deleteRecord, and nothing says why.
  const contract = lockProviderContract(plainFixture);
  await assert.rejects(caseOf(contract, 'P1 ').run(), (error) => {
    assert.ok(error instanceof InvalidLockUseError);
    assert.match(error.message, /offer deleteRecord, or lacks\.deleteRecord/);
    return true;
  });
});

void test('a fixture that offers what its store is said to lack is told so', async () => {
  const create = () => ({ ...plainFixture(), stall: () => {} });
  const { run } = caseOf(lockProviderContract(create, { lacks: LACKS }), 'P1 ');
  await assert.rejects(run(), /offers stall, which lacks\.stall denies/);
});

void test('what is no capability cannot be lacked, nor can one be lacked without a reason', () => {
  const contractOf = (lacks: LackedCapabilities) => () => lockProviderContract(plainFixture, { lacks });
  // @ts-expect-error There is no such capability.
  assert.throws(contractOf({ ...LACKS, fairness: 'no queue' }), InvalidLockUseError);
  // @ts-expect-error A reason is text.
  assert.throws(contractOf({ ...LACKS, stall: true }), InvalidLockUseError);
  assert.throws(contractOf({ ...LACKS, stall: ' ' }), InvalidLockUseError);
});

void test('a random case that fails tells its seed, with which it fails again', async () => {
  const create = () => {
    const fixture = plainFixture();
    let asked = 0;
    const lock: typeof fixture.provider.lock = async (...args) =>
      (asked += 1) > 20 ? undefined : await fixture.provider.lock(...args);
    return { ...fixture, provider: { lock } };
  };
  const failure = async (seed?: number): Promise<string> => {
    const options = { lacks: LACKS, ...(seed === undefined ? {} : { seed }) };
    const { run } = caseOf(lockProviderContract(create, options), 'P1 random use');
    return await run().then(
      () => assert.fail('it passed'),
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
  await caseOf(lockProviderContract(create, { lacks: LACKS }), 'P1 a lock of the same name in another').run();
  assert.equal(open, 0);
  await assert.rejects(caseOf(lockProviderContract(broken, { lacks: LACKS }), 'P4 ').run());
  assert.equal(open, 0);
});
