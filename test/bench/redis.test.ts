import assert from 'node:assert/strict';
import { openRedis } from '../../bench/redis/redis-server';
import { measureRedisLocks } from '../../bench/redis/measure-redis';
import { bareTake, preparePeer } from '../../bench/redis/takes';
import { testRedis } from '../support/benches/redis';

const SHORT = { slices: 1, sliceMs: 1, warmUpMs: 1, counted: 0, beside: undefined };

testRedis('the baseline of the bench excludes, and releases only its own lock', async ({ url }) => {
  await using redis = await openRedis(server(url));
  const take = await bareTake(redis);
  const release = await take('job');
  assert.equal(await take('job'), undefined);
  await release?.();
  await assert.rejects(async () => await release?.(), /was not released/);
  assert.notEqual(await take('job'), undefined);
});

testRedis('a peer that is not installed, or does not exclude, is named with the reason', async ({ url }) => {
  await using redis = await openRedis(server(url));
  const absent = { package: 'no-such-peer', version: '1.2.3', take: () => () => Promise.resolve(undefined) };
  assert.deepEqual(await preparePeer(absent, redis), {
    name: 'no-such-peer',
    reason: 'it is not installed: npm install --no-save no-such-peer@1.2.3',
  });
  const careless = {
    ...absent,
    package: 'ioredis',
    take: () => () => Promise.resolve(() => Promise.resolve()),
  };
  const { name, ...found } = await preparePeer(careless, redis);
  assert.match('reason' in found ? found.reason : '', /it does not lock as expected/, name);
});

testRedis('each table on Redis has the baseline, the library, and a row for each peer', async ({ url }) => {
  await using redis = await openRedis(server(url));
  const tables = await measureRedisLocks(SHORT, { server: server(url), database: redis, log: () => {} });
  assert.deepEqual(
    tables.map(({ id }) => id),
    ['redis/pairs/1', 'redis/pairs/16', 'redis/refused/16'],
  );
  for (const { rows } of tables) {
    const [baseline, library, ...peers] = rows;
    assert.deepEqual([baseline?.isBaseline, baseline?.values['ratio']], [true, 1]);
    assert.equal(typeof library?.values['ratio'], 'number');
    for (const { name, values } of peers)
      assert.ok(values['ratio'] !== undefined || /^not measured: /.test(String(values['verdict'])), name);
    for (const peer of ['redis-semaphore', '@node-cron/redis-coordinator'])
      assert.ok(
        peers.some(({ name }) => name.startsWith(peer)),
        peer,
      );
  }
});

function server(url: string) {
  return { name: 'redis', url, version: '7', origin: 'environment' } as const;
}
