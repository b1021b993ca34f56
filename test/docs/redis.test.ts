import assert from 'node:assert/strict';
import { LockManager } from 'cronlatch';
import { Redis } from 'ioredis';
import { testCodeOn } from '../support/checks/page-tests';
import { databaseOn } from '../support/databases/fresh';
import { runningServer, urlOn } from '../support/servers/running';
import { testIf, testOn } from '../support/servers/test-on';
import { start } from './redis/ioredis';
import { connect } from './redis/node-redis';
import { locksOn } from './redis/replicas';

testCodeOn('docs/redis.md', 'test/docs/redis');

const areThere = runningServer('mysql') !== undefined && runningServer('redis') !== undefined;

testIf(
  areThere,
  'mysql and redis',
  'mysql and redis: the guard of the page runs a day once, under a lock in Redis',
  async () => {
    const database = await databaseOn('mysql');
    const started = await start(urlOn('redis'), database.url);
    const { guard } = started;
    const name = `page-${database.name}`;
    const oncePer = { period: 'day', timeZone: 'UTC' } as const;
    const operator = new Redis(urlOn('redis'));
    const job = { name, lockAtMostFor: '10m', keepAlive: true, oncePer } as const;
    const result = await guard.run(job, () => operator.get(`cronlatch:${name}`));
    assert.match(String(result.executed && result.value), /^\S+ \d{16} \d{16} 0$/);
    assert.deepEqual(await guard.run(job, () => assert.fail('it ran again')), {
      executed: false,
      reason: 'already-completed',
    });
    operator.disconnect();
    await started.close();
    await database.dispose();
  },
);

testOn('redis', 'the locks of the page through node-redis can be waited for', async () => {
  const { client, locks } = await connect(urlOn('redis'));
  const manager = new LockManager(locks, { lockAtMostFor: '1m' });
  const name = `page-${process.pid}`;
  const lock = await manager.lock(name);
  const next = manager.lock(name);
  assert.equal(await lock.unlock(), true);
  assert.equal(await (await next).unlock(), true);
  await manager.close();
  await locks.close();
  client.destroy();
});

testOn('redis', 'a lock that the page lets replicas confirm is not granted without replicas', async () => {
  const client = new Redis(urlOn('redis'));
  const locks = locksOn(client);
  await assert.rejects(locks.lock({ name: `page-${process.pid}`, lockAtMostFor: '1m' }), /0 of 1 replicas/);
  await locks.close();
  client.disconnect();
});
