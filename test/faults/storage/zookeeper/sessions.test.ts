import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { LockLostError, LockStorageError } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import type { Option } from 'node-zookeeper-client';
import { JOB, testOnZooKeeper, type ZooKeeperBench } from '../../../support/benches/zookeeper';
import { eventually } from '../../../support/clocks/eventually';
import { childrenOf } from '../../../support/servers/zookeeper';

async function untilGranted(provider: LockProvider): Promise<void> {
  await eventually(async () => (await provider.lock(JOB)) !== undefined, 'the lock is granted');
}

/** A holder behind a proxy, and another instance. */
async function holderIn(bench: ZooKeeperBench, options: Partial<Option> = {}) {
  const behind = await bench.behindProxy(options);
  const lock = await behind.provider.lock(JOB);
  assert.ok(lock);
  return { ...behind, lock, other: await bench.provider() };
}

/** What happened, in its order. */
function orderOf(signal: AbortSignal): string[] {
  const order: string[] = [];
  signal.addEventListener('abort', () => void order.push('the holder stops'));
  return order;
}

testOnZooKeeper(
  'a half-open connection: the holder stops before the lock is granted again',
  async (bench) => {
    const { proxy, client, lock, other } = await holderIn(bench);
    const order = orderOf(lock.signal);
    const states: string[] = [];
    client.on('state', ({ name }) => void states.push(name));
    proxy.stall();
    await untilGranted(other);
    order.push('the next holder starts');
    assert.deepEqual(order, ['the holder stops', 'the next holder starts']);
    assert.match((lock.signal.reason as LockLostError).message, /ZooKeeper has not confirmed its session/);
    assert.deepEqual(states, [], 'the client itself has noticed nothing');
  },
);

testOnZooKeeper('nothing from the server: the holder stops, although its requests arrive', async (bench) => {
  const { proxy, lock } = await holderIn(bench);
  proxy.stall('to-client');
  await once(lock.signal, 'abort');
  assert.equal(await lock.unlock(), false);
  proxy.flow();
  await eventually(async () => (await childrenOf(bench.operator, bench.path)).length === 0, 'its node goes');
});

const NO_OTHER = 'nothing from the server: no other holder until the stopped job has released it';
for (const [name, earlyMs] of [
  [NO_OTHER, 0],
  [`${NO_OTHER}, although its timer fires early`, 5],
] as const)
  testOnZooKeeper(name, async (bench, t) => {
    // The job has a third of it to stop. In less time than that, this process sends two requests.
    const sessionTimeout = 15_000;
    const [sinceMs, wallSinceMs] = [performance.now(), Date.now()];
    const { proxy, lock, other } = await holderIn(bench, { sessionTimeout });
    if (earlyMs > 0) {
      const [nowMs, wallNowMs] = [performance.now.bind(performance), Date.now];
      const stopAfterMs = (sessionTimeout * 2) / 3 - earlyMs;
      t.mock.method(performance, 'now', () => Math.min(nowMs(), sinceMs + stopAfterMs));
      t.mock.method(Date, 'now', () => Math.min(wallNowMs(), wallSinceMs + stopAfterMs));
    }
    proxy.stall('to-client');
    await once(lock.signal, 'abort');
    t.mock.restoreAll();
    for (let times = 0; times < 2; times += 1)
      assert.equal(await other.lock(JOB), undefined, 'the job may still be stopping');
    assert.equal(await lock.unlock(), false);
    await untilGranted(other);
  });

testOnZooKeeper(
  'nothing from the server: a job that does not stop keeps the lock no longer than a session',
  async (bench) => {
    const { proxy, lock, other } = await holderIn(bench);
    proxy.stall('to-client');
    await once(lock.signal, 'abort');
    await untilGranted(other);
  },
);

testOnZooKeeper('a cut connection that comes back within the session keeps the lock', async (bench) => {
  const sessionTimeout = 9000;
  const { proxy, client, lock, other } = await holderIn(bench, { sessionTimeout });
  for (let round = 0; round < 4; round += 1) {
    const connected = once(client, 'connected');
    assert.equal(proxy.cut(), 1);
    await connected;
    const untilMs = performance.now() + sessionTimeout / 3;
    while (performance.now() < untilMs) assert.equal(await other.lock(JOB), undefined);
  }
  assert.equal(lock.signal.aborted, false);
  assert.equal(await lock.extend('10m'), true);
  assert.equal(await lock.unlock(), true);
  assert.ok(await other.lock(JOB));
});

testOnZooKeeper(
  'an expired session: the holder stops first, and the errors of its provider name the fix',
  async (bench) => {
    const { provider, proxy, client, lock, other } = await holderIn(bench);
    const order = orderOf(lock.signal);
    await proxy.close();
    await untilGranted(other);
    order.push('the next holder starts');
    assert.deepEqual(order, ['the holder stops', 'the next holder starts']);
    const expired = once(client, 'expired');
    await proxy.open();
    await expired;
    assert.equal(await lock.unlock(), false);
    await assert.rejects(provider.lock(JOB), (error: LockStorageError) => {
      assert.match(error.message, /its session has expired\. Create a new client/);
      return error.outcome === 'nothing-ran';
    });
  },
);

testOnZooKeeper(
  'a process that was blocked for two thirds of its session timeout has lost its lock',
  async (bench) => {
    const client = await bench.client({ sessionTimeout: 1500 });
    const lock = await (await bench.provider({ client })).lock(JOB);
    assert.ok(lock);
    const { signal } = lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100);
    assert.equal(lock.remainingMs(), 0, 'no timer has fired yet');
    assert.equal(signal.aborted, true);
    assert.equal(await lock.unlock(), false);
    assert.ok(await (await bench.provider()).lock(JOB), 'its session goes on, so it has removed its node');
  },
);
