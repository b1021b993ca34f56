import assert from 'node:assert/strict';
import { once } from 'node:events';
import { LockStorageError } from 'cronlatch';
import { JOB, testOnZooKeeper, type ZooKeeperBench } from '../../../support/benches/zookeeper';
import { eventually } from '../../../support/clocks/eventually';
import { childrenOf } from '../../../support/servers/zookeeper';

async function queueHas({ operator, path }: ZooKeeperBench, length: number): Promise<void> {
  await eventually(
    async () => (await childrenOf(operator, `${path}/${JOB.name}`)).length === length,
    `the queue has ${length} nodes`,
  );
}

for (const retries of [0, 3])
  testOnZooKeeper(
    `a lost reply to the creation of a node: its owner is found again, and one node is left (${retries} retries of the client)`,
    async (bench) => {
      const { provider, proxy } = await bench.behindProxy({ retries }, '5s');
      await (await provider.lock({ ...JOB, name: 'other' }))?.unlock();
      const lost = proxy.swallow('grant', 'cut');
      const lock = await provider.lock({ ...JOB, lockAtMostFor: '1h' });
      await lost;
      assert.ok(lock);
      await queueHas(bench, 1);
      assert.equal(await (await bench.provider()).lock(JOB), undefined);
      assert.equal(await lock.unlock(), true);
      await queueHas(bench, 0);
      assert.ok(await (await bench.provider()).lock(JOB));
    },
  );

testOnZooKeeper(
  'a lost reply to the creation behind another node: refused, and no node is left',
  async (bench) => {
    const holder = await (await bench.provider()).lock(JOB);
    const { provider, proxy } = await bench.behindProxy();
    assert.equal(await provider.lock(JOB), undefined);
    const lost = proxy.swallow('grant', 'cut');
    assert.equal(await provider.lock(JOB), undefined);
    await lost;
    await queueHas(bench, 1);
    assert.equal(await holder?.unlock(), true);
  },
);

testOnZooKeeper(
  'no answer to the creation: an error, and the node is removed when the answer comes',
  async (bench) => {
    const { provider, proxy } = await bench.behindProxy();
    await (await provider.lock(JOB))?.unlock();
    proxy.stall('to-client');
    await assert.rejects(provider.lock(JOB), (error: LockStorageError) => {
      assert.match(error.message, /ZooKeeper did not answer for lock 'close-day' within \d+ ms/);
      return error.outcome === 'unknown';
    });
    await queueHas(bench, 1);
    proxy.flow();
    await queueHas(bench, 0);
  },
);

testOnZooKeeper('no way to the server: nothing is sent later that takes the lock', async (bench) => {
  const { provider, proxy } = await bench.behindProxy();
  await (await provider.lock(JOB))?.unlock();
  await proxy.close();
  await assert.rejects(provider.lock(JOB), LockStorageError);
  await proxy.open();
  await provider.probe(1000);
  await queueHas(bench, 0);
  assert.ok(await (await bench.provider()).lock(JOB));
});

testOnZooKeeper('a lost reply to a release: the lock is free, and the release was ours', async (bench) => {
  const { provider, proxy } = await bench.behindProxy();
  const lock = await provider.lock(JOB);
  const lost = proxy.swallow('release', 'cut');
  assert.equal(await lock?.unlock(), true);
  await lost;
  assert.ok(await (await bench.provider()).lock(JOB));
});

testOnZooKeeper('a lost reply to an extension: it is sent again', async (bench) => {
  const { provider, proxy } = await bench.behindProxy();
  const lock = await provider.lock(JOB);
  const lost = proxy.swallow('extend', 'cut');
  assert.equal(await lock?.extend('20m'), true);
  await lost;
  assert.ok((lock?.remainingMs() ?? 0) > 15 * 60_000);
  assert.equal(await lock?.unlock(), true);
});

testOnZooKeeper(
  'a lost reply to a release, and then the end of the session: the release ends with it',
  async (bench) => {
    const { provider, proxy, client } = await bench.behindProxy();
    const lock = await provider.lock(JOB);
    assert.ok(await provider.lock({ ...JOB, name: 'other' }));
    const lost = proxy.swallow('release', 'silence');
    const release = lock?.unlock();
    await lost;
    await queueHas(bench, 0);
    await proxy.close();
    const expired = once(client, 'expired');
    await eventually(
      async () => (await childrenOf(bench.operator, `${bench.path}/other`)).length === 0,
      'the server ends the session',
    );
    await proxy.open();
    await expired;
    assert.equal(await release, true);
  },
);

testOnZooKeeper(
  'no answer to an attempt while the process waits: the waiter keeps its place in the queue',
  async (bench) => {
    const holder = await (await bench.provider()).lock(JOB);
    const { provider, proxy } = await bench.behindProxy();
    const released = provider.released(JOB.name, new AbortController().signal);
    await queueHas(bench, 2);
    proxy.stall('to-server');
    await assert.rejects(provider.lock(JOB), LockStorageError);
    await holder?.unlock();
    proxy.flow();
    await released;
    const lock = await provider.lock(JOB);
    assert.equal(await lock?.unlock(), true);
    await queueHas(bench, 0);
  },
);

testOnZooKeeper('a provider that is closed without a connection removes its nodes later', async (bench) => {
  const { provider, proxy, client } = await bench.behindProxy();
  assert.ok(await provider.lock(JOB));
  const disconnected = once(client, 'disconnected');
  await proxy.close();
  await disconnected;
  await provider.close();
  await queueHas(bench, 1);
  await proxy.open();
  await queueHas(bench, 0);
  assert.equal(client.getState().name, 'SYNC_CONNECTED');
  await eventually(() => client.listenerCount('state') === 1, 'the provider stops watching the client');
});

testOnZooKeeper('a waiter learns that its session has expired before it was in the queue', async (bench) => {
  const { provider, proxy, client } = await bench.behindProxy();
  assert.ok(await provider.lock(JOB));
  const disconnected = once(client, 'disconnected');
  await proxy.close();
  await disconnected;
  const waiting = assert.rejects(
    provider.released('other', new AbortController().signal),
    /its session has expired/,
  );
  await queueHas(bench, 0);
  await proxy.open();
  await waiting;
});
