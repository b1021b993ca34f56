import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { RedisLockProvider } from 'cronlatch/redis';
import { EtcdLockProvider } from 'cronlatch/etcd';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import type { LockProvider } from 'cronlatch/provider';
import { Redis } from 'ioredis';
import { createClient } from 'node-zookeeper-client';
import { runningServer } from '../../servers/running';
import { testOn } from '../../servers/test-on';
import { targetOf } from '../tcp-proxy';
import { lockProxy } from './lock-proxy';
import { RECOGNISERS, type LockProtocol } from './lock-statements';

type Open = (port: number, t: TestContext) => LockProvider;

const PREFIX = `lock-proxy-${process.pid}`;

const OPEN: Readonly<Record<LockProtocol, Open>> = {
  redis(port, t) {
    const client = new Redis({ host: '127.0.0.1', port });
    client.on('error', () => {}); // The cut connection.
    const provider = new RedisLockProvider({ id: 'test', client, keyPrefix: PREFIX });
    t.after(async () => {
      await provider.close();
      client.disconnect();
    });
    return provider;
  },
  etcd(port, t) {
    const provider = new EtcdLockProvider({ endpoints: `http://127.0.0.1:${port}`, keyPrefix: PREFIX });
    t.after(() => provider.close());
    return provider;
  },
  zookeeper(port, t) {
    const client = createClient(`127.0.0.1:${port}`, { sessionTimeout: 5000, spinDelay: 20 });
    const provider = new ZooKeeperLockProvider({ client, path: `/${PREFIX}` });
    client.connect();
    t.after(async () => {
      await provider.close();
      client.close();
    });
    return provider;
  },
};

for (const protocol of ['redis', 'etcd', 'zookeeper'] as const)
  testOn(
    protocol,
    'the proxy recognises each of the library’s statements, and loses their replies',
    async (t) => {
      const proxy = await lockProxy(targetOf(runningServer(protocol)?.url ?? ''), protocol);
      t.after(() => proxy.close());
      const provider = OPEN[protocol](proxy.port, t);
      // Connects, and loads the scripts.
      await (await provider.lock({ name: 'first', lockAtMostFor: '20s' }))?.unlock();

      const granted = proxy.swallow('grant', 'cut');
      const lock = await provider.lock({ name: 'job', lockAtMostFor: '20s' });
      assert.ok(lock, 'the lost reply to the grant was settled');
      await granted;
      await lock.extend('20s');
      const extended = proxy.swallow('extend', 'cut');
      assert.equal(await lock.extend('20s'), true);
      await extended;
      const released = proxy.swallow('release', 'cut');
      assert.equal(await lock.unlock(), true);
      await released;
      assert.deepEqual(Object.fromEntries(proxy.swallowed), { grant: 1, extend: 1, release: 1 });
    },
  );

void suite('statements of ZooKeeper are recognised', () => {
  const message = (operation: number): Buffer => {
    const bytes = Buffer.alloc(16);
    bytes.writeInt32BE(12, 0);
    bytes.writeInt32BE(operation, 8);
    return bytes;
  };

  void test('in pieces of any size, but not in the message that opens the session', () => {
    const recognise = RECOGNISERS.zookeeper();
    assert.deepEqual(recognise(message(1)), []);
    const sent = Buffer.concat([message(1), message(11), message(2)]);
    assert.deepEqual(recognise(sent.subarray(0, 21)), ['grant']);
    assert.deepEqual(recognise(sent.subarray(21)), ['release']);
  });
});
