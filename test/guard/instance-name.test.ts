import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { JobGuard } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { operations } from 'cronlatch/operations';
import { isHoldOwner } from '#cronlatch/core/lease/hold-owner';
import { instanceName, instanceOf, LONGEST_OWNER, newOwner } from '#cronlatch/core/lease/owner';
import { testDrivers } from '../support/benches/driver';
import { guardBench, nextEvent } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { JOB } from '../support/benches/lock';
import { testRowLocks } from '../support/benches/row-locks';
import { testOnZooKeeper } from '../support/benches/zookeeper';

const NAME = 'node-7:eu_1@a.b+c';
const INSTANCE = `${NAME}:${hostname()}/${process.pid}`;

async function holderOf(guard: JobGuard, name: string = JOB.name): Promise<string> {
  const { lockedBy = '' } = (await guard.locks.inspect(name)) ?? {};
  return instanceOf(lockedBy);
}

testDrivers(
  'the name of an instance begins the owners of its locks and runs',
  async ({ createJobGuard, createTables }) => {
    await createTables();
    const guard = await createJobGuard(undefined, { instanceName: NAME, logger: false });
    try {
      assert.deepEqual(await guard.run(JOB, () => holderOf(guard)), { executed: true, value: INSTANCE });
      await guard.run(DAILY, async () => {});
      const run = await guard.ledger.last('close-day');
      assert.equal(instanceOf(run?.claimedBy ?? ''), INSTANCE);
      await operations(guard).pause({ lock: 'other' }, { actor: 'anne', reason: 'stock' });
      await operations(guard).resume({ lock: 'other' }, { actor: 'anne', reason: 'stock' });
    } finally {
      await guard.close();
    }
  },
);

testOnZooKeeper('a lock of ZooKeeper shows the name', async ({ provider }) => {
  await showsName(await provider());
});

testRowLocks('a row lock shows the name', async (locks) => {
  await showsName(locks.provider());
});

async function showsName(lockProvider: LockProvider): Promise<void> {
  const guard = new JobGuard({ lockProvider, instanceName: NAME, logger: false });
  const skipped = nextEvent(guard, 'lock:skipped');
  const job = { ...JOB, lockAtLeastFor: '1m' };
  await guard.run(job, () => {});
  assert.deepEqual(await guard.run(job, () => {}), { executed: false, reason: 'locked' });
  assert.equal(instanceOf((await skipped).heldBy ?? ''), INSTANCE);
  await guard.close();
}

void test('the register and the locks of the lock manager show the name', async () => {
  const { guard, runStore } = guardOfRuns({ instanceName: NAME });
  guard.wrap(DAILY, () => {});
  await guard.lockManager().withLock(JOB, async () => assert.equal(await holderOf(guard), INSTANCE));
  await using lock = await guard.lockManager().lock({ ...JOB, name: 'by hand' });
  assert.equal(await holderOf(guard, lock.name), INSTANCE);
  await guard.close();
  const { jobs } = await runStore.jobs();
  assert.deepEqual(
    jobs.map(({ registeredBy }) => registeredBy),
    [INSTANCE],
  );
});

void test('without a name, an owner begins with the host and the process', async () => {
  const { guard } = guardBench();
  const { value } = { value: undefined, ...(await guard.run(JOB, () => holderOf(guard))) };
  assert.equal(value, `${hostname()}/${process.pid}`);
});

void test('a long name leaves room for the process, the acquisition and the marks of a lease', () => {
  const owner = newOwner(instanceName('n'.repeat(100)));
  assert.ok(`${owner}/999999/released`.length <= LONGEST_OWNER);
  assert.equal(instanceOf(owner), instanceName('n'.repeat(100)));
});

void test('an instance that is called hold is not taken for an operator', () => {
  assert.equal(isHoldOwner(newOwner(instanceName('hold'))), false);
});

for (const name of ['', 'a/b', 'a b', 'Zürich', 'a\n', 'n'.repeat(101), 7, null])
  void test(`the name ${JSON.stringify(name)?.slice(0, 20)} is refused, and the error names the option`, () => {
    assert.throws(() => guardBench({ instanceName: name as string }), {
      name: 'InvalidLockConfigurationError',
      message: /^instanceName is .+: use 1 to 100 letters, digits and characters of \. _ : @ \+ -\.$/,
    });
  });
