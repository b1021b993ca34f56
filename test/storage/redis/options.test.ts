import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { RedisLockProvider, type RedisClient, type RedisSubscriber } from 'cronlatch/redis';
import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis-6';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import * as nodeRedis5 from 'redis-5';

const send = (): Promise<unknown> => new Promise(() => {});
const offline = new Redis({ lazyConnect: true });

function refuses(options: object, message: RegExp): void {
  assert.throws(
    () => new RedisLockProvider({ id: 'orders', client: send, ...options }),
    (error) => error instanceof InvalidLockConfigurationError && message.test(error.message),
    String(message),
  );
}

void test('a client of another kind is refused, without its fields in the message', () => {
  for (const client of [undefined, null, 'redis://localhost', {}, { get: send, password: 'hush' }])
    refuses({ client }, /client of RedisLockProvider is (?!.*hush).*pass a client of ioredis or node-redis/);
});

void test('a client of ioredis with a keyPrefix of its own is refused, with what to pass instead', () => {
  const client = new Redis({ lazyConnect: true, keyPrefix: 'app:' });
  refuses(
    { client },
    /client of RedisLockProvider has a keyPrefix of its own.+duplicate\(\{ keyPrefix: '' \}\)/,
  );
  const wait = { client, replicas: 1, timeout: '1s' };
  refuses({ wait }, /wait\.client of RedisLockProvider has a keyPrefix/);
  assert.ok(
    new RedisLockProvider({ id: 'orders', client: client.duplicate({ keyPrefix: '' }), keyPrefix: 'app:' }),
  );
});

void test('every client of ioredis and node-redis is accepted, with its types', () => {
  const nodes = { rootNodes: [{ url: 'redis://127.0.0.1' }] };
  const sentinels = { name: 'main', sentinelRootNodes: [{ host: '127.0.0.1', port: 26_379 }] };
  const clients: readonly RedisClient[] = [
    offline,
    new Redis6({ lazyConnect: true }),
    new Cluster([], { lazyConnect: true }),
    new Cluster6([], { lazyConnect: true }),
    ...[createClient(), createCluster(nodes), createClientPool(), createSentinel(sentinels)],
    nodeRedis5.createClient(),
    nodeRedis5.createCluster(nodes),
    nodeRedis5.createClientPool(),
    nodeRedis5.createSentinel(sentinels),
    send,
  ];
  const subscribers: readonly RedisSubscriber[] = [
    ...[
      offline.duplicate(),
      new Cluster([], { lazyConnect: true }),
      createClient(),
      nodeRedis5.createClient(),
    ],
  ];
  for (const client of clients)
    assert.equal(new RedisLockProvider({ id: 'orders', client }).released, undefined);
  for (const subscriber of subscribers)
    assert.ok(new RedisLockProvider({ id: 'orders', client: send, subscriber }).released);
});

void test('a provider needs the place of its locks', () => {
  for (const id of [undefined, '', 7, 'a\nb']) refuses({ id }, /the id of a RedisLockProvider/);
});

void test('invalid prefixes, limits and lengths of names are refused', () => {
  for (const keyPrefix of ['', ' a', 7, 'a\u0000']) refuses({ keyPrefix }, /keyPrefix/);
  for (const statementTimeout of [0, '-1s', 'soon']) refuses({ statementTimeout }, /statementTimeout/);
  refuses({ nameLength: 256 }, /nameLength/);
});

void test('wait needs a connection of its own', () => {
  const rules = { replicas: 1, timeout: '1s' };
  refuses({ wait: rules }, /wait.client of RedisLockProvider is undefined/);
  refuses({ client: offline, wait: { ...rules, client: offline } }, /wait.client .* is the client itself/);
  const cluster = new Cluster([{ host: '127.0.0.1' }], { lazyConnect: true });
  const another = createCluster({ rootNodes: [{ url: 'redis://127.0.0.1' }] });
  for (const client of [cluster, another])
    refuses({ wait: { ...rules, client } }, /wait.client .* is a client with several connections/);
});

void test('wait needs a number of replicas, and a time within the time limit of a statement', () => {
  const wait = { client: () => send(), replicas: 1, timeout: '1s' };
  for (const replicas of [0, -1, 1.5, NaN, undefined, '2'])
    refuses({ wait: { ...wait, replicas } }, /wait.replicas/);
  for (const timeout of ['5s', '1h', 0, undefined]) refuses({ wait: { ...wait, timeout } }, /wait.timeout/);
});

void test('a subscriber needs a connection of its own', () => {
  refuses({ client: offline, subscriber: offline }, /subscriber .* is the client itself/);
  for (const subscriber of [null, {}, send]) refuses({ subscriber }, /subscriber of RedisLockProvider is/);
});

void test('a client without a connection grants nothing, and the error has the fix', async () => {
  const ended = new Redis({ lazyConnect: true });
  ended.disconnect();
  for (const [client, message] of [
    [createClient(), /not connected. Call `await client.connect\(\)` first/],
    [ended, /its connection has ended. Create a new client/],
  ] as const) {
    const provider = new RedisLockProvider({ id: 'orders', client });
    const locked = provider.lock({ name: 'job', lockAtMostFor: '1m' });
    await assert.rejects(locked, { outcome: 'nothing-ran', message });
  }
});
