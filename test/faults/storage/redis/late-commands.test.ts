import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { LockStorageError } from 'cronlatch';
import { RedisBench, JOB } from '../../../support/benches/redis';
import { targetOf, tcpProxy, throughProxy } from '../../../support/faults/tcp-proxy';
import { testOn } from '../../../support/servers/test-on';
import { urlOn } from '../../../support/servers/running';

/** The default settings of ioredis keep commands while there is no connection, and send them when there is one. */
testOn('redis', 'a lock that ioredis requests again after its time limit is not granted', async (t) => {
  const url = urlOn('redis');
  const bench = await RedisBench.open(t, url);
  const proxy = await tcpProxy(targetOf(url));
  const client = new Redis(throughProxy(url, proxy), { retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {});
  t.after(async () => {
    client.disconnect();
    await proxy.close();
  });
  const sent: string[] = [];
  const provider = bench.provider({
    statementTimeout: '200ms',
    client: ([name = '', ...args]) => {
      sent.push(name);
      return client.call(name, ...args);
    },
  });
  await (await provider.lock(JOB))?.unlock();
  const before = await calls(bench);

  // The commands of this attempt wait in the client until the way is open again.
  await proxy.close();
  sent.length = 0;
  await assert.rejects(provider.lock(JOB), { outcome: 'unknown' });
  await proxy.open();
  await ready(client);
  await client.ping();
  assert.ok(sent.includes('EVALSHA'));
  assert.ok((await calls(bench)) > before, 'ioredis should have sent the scripts again');
  assert.equal((await bench.provider().inspect(JOB.name))?.isHeld, false);

  // The next commands are sent, and their answers are lost with the connection.
  proxy.stall('to-client');
  await assert.rejects(provider.lock(JOB), LockStorageError);
  proxy.cut();
  proxy.flow();
  await ready(client);
  await client.ping();
  // If the first copy arrived in time, the provider itself frees the lock that no job holds.
  await provider.close();
  assert.equal((await bench.provider().inspect(JOB.name))?.isHeld, false);
});

/** The attempt before the way was open may still fail, and `once` of node:events would reject with its error. */
function ready(client: Redis): Promise<void> {
  return new Promise((resolve) => void client.once('ready', resolve));
}

async function calls(bench: RedisBench): Promise<number> {
  const stats = String(await bench.send('INFO', 'commandstats'));
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}
