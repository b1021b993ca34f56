import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { eventually } from '../../support/clocks/eventually';
import { databaseNowUs, lockRows } from '../../support/databases/lock-table';
import { proxiedProcess, testAmbiguous } from './proxied-process';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

testAmbiguous(
  "a take-over that arrives after its client's timeout does not block the lock for long (F-41)",
  async (bench) => {
    const { provider, proxy } = await proxiedProcess(bench, { statementTimeout: '1s' });
    await (await provider.lock(JOB))?.unlock();
    const [before] = await lockRows(bench.application);
    proxy.stall('to-server');
    await assert.rejects(provider.lock(JOB), LockStorageError);
    proxy.flow();
    const isOver = async (): Promise<boolean> => {
      const [row] = await lockRows(bench.application);
      return row !== undefined && row.token !== before?.token && !row.held;
    };
    await eventually(isOver, 'the late grant is released by its owner');
    assert.ok(await provider.lock(JOB));
  },
);

for (const keepAlive of [false, true]) {
  testAmbiguous(
    `an extension that arrives after a later one was confirmed does not shorten the lease${keepAlive ? ', with keepAlive' : ''} (P2, F-41, F-56)`,
    async (bench) => {
      const { provider, proxy } = await proxiedProcess(bench, { statementTimeout: '1s' });
      const lock = await provider.lock({ ...JOB, keepAlive });
      assert.ok(lock);
      const late = proxy.hold('extend');
      assert.equal(await lock.extend('4s'), true);
      await late.sent;
      assert.equal(await lock.extend('10m'), true);
      await late.deliver();
      const [row] = await lockRows(bench.application);
      assert.ok(row);
      const heldForMs = (row.lockUntilUs - (await databaseNowUs(bench.application))) / 1000;
      assert.ok(lock.remainingMs() > 590_000);
      assert.ok(lock.remainingMs() <= heldForMs, `the row stays held for ${Math.round(heldForMs)} ms more`);
      assert.equal(await lock.unlock(), true);
    },
  );
}

testAmbiguous('a closing guard frees a lock whose grant it never received', async (bench) => {
  const { guard, proxy } = await proxiedProcess(bench, { statementTimeout: '1s' });
  await guard.run({ ...JOB, name: 'first' }, () => {}); // It also inserts the place of the locks.
  const isHeld = async (): Promise<boolean | undefined> =>
    (await lockRows(bench.application)).find(({ name }) => name === JOB.name)?.held;
  const swallowed = proxy.swallow('insert', 'silence');
  const running = guard.run(JOB, () => assert.fail('ran'));
  const refused = assert.rejects(running, LockStorageError);
  await swallowed;
  proxy.stall('to-client');
  await refused;
  proxy.flow();
  assert.equal(await isHeld(), true, 'granted, although no job holds it');
  await guard.close();
  assert.equal(await isHeld(), false);
});
