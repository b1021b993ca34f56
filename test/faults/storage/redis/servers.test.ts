import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { LockStorageError } from 'cronlatch';
import { RedisLockProvider } from 'cronlatch/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { JOB, RedisBench } from '../../../support/benches/redis';
import { ownServer } from '../../../support/servers/own';
import { testOnOwn } from '../../../support/servers/test-on';

testOnOwn('redis', 'a server that evicts keys leads to one warning with the setting to change', async (t) => {
  const server = await ownServer('redis');
  t.after(() => server.stop());
  const bench = await RedisBench.open(t, server.url);
  const warned = (): [Promise<string>, string[], (message: string) => void] => {
    const warnings: string[] = [];
    let first: (message: string) => void = () => {};
    const next = new Promise<string>((resolve) => (first = resolve));
    return [next, warnings, (message) => (warnings.push(message), first(message))];
  };
  await bench.send('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
  const [message, warnings, onWarning] = warned();
  const provider = bench.provider({ onWarning });
  await (await provider.lock(JOB))?.unlock();
  assert.match(await message, /maxmemory-policy is allkeys-lru. Set it to noeviction/);
  await (await provider.lock(JOB))?.unlock();
  assert.equal(warnings.length, 1);

  await bench.send('ACL', 'SETUSER', 'default', '-info');
  const [refused, , onRefusal] = warned();
  assert.ok(await bench.provider({ onWarning: onRefusal }).lock(JOB));
  assert.match(await refused, /Could not check.*noeviction: NOPERM/);
});

testOnOwn('redis', 'a server without memory, or a user without the commands, grants nothing', async (t) => {
  const server = await ownServer('redis');
  t.after(() => server.stop());
  const bench = await RedisBench.open(t, server.url);
  await bench.send('CONFIG', 'SET', 'maxmemory', '1');
  await assert.rejects(bench.provider().lock(JOB), { outcome: 'nothing-ran', driverCode: 'OOM' });
  await bench.send('CONFIG', 'SET', 'maxmemory', '0');
  await bench.send('CONFIG', 'SET', 'min-replicas-to-write', '1');
  await assert.rejects(bench.provider().lock(JOB), { outcome: 'nothing-ran', driverCode: 'NOREPLICAS' });
  await bench.send('CONFIG', 'SET', 'min-replicas-to-write', '0');
  await bench.send('ACL', 'SETUSER', 'default', '-set');
  await assert.rejects(bench.provider().lock(JOB), { outcome: 'nothing-ran', message: /Allow this user/ });
  assert.equal(await bench.send('EXISTS', bench.keyPrefix + JOB.name), 0);
});

testOnOwn('redis', 'no error of a client with a password holds it', async (t) => {
  const server = await ownServer('redis');
  t.after(() => server.stop());
  const bench = await RedisBench.open(t, server.url);
  await bench.send('CONFIG', 'SET', 'requirepass', 'right-password');
  const { port } = new URL(server.url);
  const ioredis = new Redis(Number(port), { password: 'wrong-password', retryStrategy: () => null });
  ioredis.on('error', () => {});
  const nodeRedis = createClient({ url: `redis://:wrong-password@127.0.0.1:${port}` });
  nodeRedis.on('error', () => {});
  const connecting = nodeRedis.connect().catch(() => {});
  t.after(async () => {
    ioredis.disconnect();
    nodeRedis.destroy();
    await connecting;
  });
  for (const client of [ioredis, nodeRedis]) {
    const provider = new RedisLockProvider({ id: 'orders', client, statementTimeout: '200ms' });
    await assert.rejects(provider.lock(JOB), (error) => {
      assert.ok(error instanceof LockStorageError);
      assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /wrong-password/);
      return true;
    });
    await provider.close();
  }
});

testOnOwn('redis', 'after a restart without data, the holder learns that it has lost its lock', async (t) => {
  const server = await ownServer('redis');
  t.after(() => server.stop());
  const bench = await RedisBench.open(t, server.url);
  const lock = await bench.provider().lock(JOB);
  assert.ok(lock);
  await server.restart();
  const next = await bench.provider().lock(JOB);
  assert.ok((next?.fencingToken ?? 0) > (lock.fencingToken ?? Infinity));
  assert.equal(await lock.extend('10m'), false);
  assert.equal(lock.signal.aborted, true);
  assert.equal(await lock.unlock(), false);
});
