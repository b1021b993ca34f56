import assert from 'node:assert/strict';
import { LockManager } from 'cronlatch';
import type { RedisSubscriber } from 'cronlatch/redis';
import { JOB, testRedis, type RedisBench } from '../../support/benches/redis';
import { eventually } from '../../support/clocks/eventually';
import { REDIS_CLIENTS } from '../../support/servers/redis-clients';

const never = new AbortController().signal;

/** How many connections listen to the releases of the lock. */
async function listeners(bench: RedisBench): Promise<number> {
  const [, count] = (await bench.send('PUBSUB', 'NUMSUB', bench.keyPrefix + JOB.name)) as [string, number];
  return Number(count);
}

async function listened(bench: RedisBench, count: number): Promise<void> {
  await eventually(async () => (await listeners(bench)) === count, `${count} connections listen`);
}

for (const name of REDIS_CLIENTS)
  testRedis(
    `through ${name}, waits for one lock share a subscription, and the last one ends it`,
    async (bench) => {
      const connected = await bench.connect(name);
      const waiting = bench.provider({ client: connected.client, subscriber: connected.subscriber() });
      const lock = await bench.provider().lock(JOB);
      const stop = new AbortController();
      const stopped = waiting.released?.(JOB.name, stop.signal);
      const woken = [waiting.released?.(JOB.name, never), waiting.released?.(JOB.name, never)];
      await listened(bench, 1);
      stop.abort();
      await stopped;
      assert.equal(await listeners(bench), 1);
      assert.equal(await lock?.unlock(), true);
      for (const each of woken) await each;
      await listened(bench, 0);
    },
  );

testRedis('a release wakes the lock manager of another process at once', async (bench) => {
  const waiting = bench.provider({ subscriber: bench.connected.subscriber() });
  const manager = new LockManager(waiting, { lockAtMostFor: '10m' });
  const lock = await bench.provider().lock(JOB);
  const granted = manager.lock(JOB.name);
  await listened(bench, 1);
  assert.equal(await lock?.unlock(), true);
  assert.equal(await (await granted).unlock(), true);
});

testRedis('a wait ends when the lease of a crashed holder ends', async (bench) => {
  const waiting = bench.provider({ subscriber: bench.connected.subscriber() });
  await bench.provider().lock({ ...JOB, lockAtMostFor: '200ms' });
  await waiting.released?.(JOB.name, never);
  assert.ok(await waiting.lock(JOB));
});

testRedis('a record has an end until its last moment, so that a wait cannot miss it', async (bench) => {
  const provider = bench.provider();
  for (let lease = 1; lease <= 20; lease += 1) {
    await bench.send('SET', bench.keyPrefix + JOB.name, 'crashed 1 1 0', 'PX', '10');
    const held = async () => await provider.inspect(JOB.name);
    for (let record = await held(); record !== undefined; record = await held())
      assert.ok(record.lockUntil.getTime() < Date.now() + 60_000, record.lockUntil.toISOString());
  }
});

testRedis('a wait for a lock that lockAtLeastFor keeps ends with that time', async (bench) => {
  const waiting = bench.provider({ subscriber: bench.connected.subscriber() });
  const lock = await bench.provider().lock({ ...JOB, lockAtLeastFor: '300ms' });
  const woken = waiting.released?.(JOB.name, never);
  await listened(bench, 1);
  assert.equal(await lock?.unlock(), true);
  await woken;
  assert.ok(await waiting.lock(JOB));
});

testRedis('a wait for a free lock ends at once', async (bench) => {
  const waiting = bench.provider({ subscriber: bench.connected.subscriber() });
  await waiting.released?.(JOB.name, never);
  await waiting.released?.(JOB.name, AbortSignal.abort());
});

testRedis('a wait ends if its subscription fails, and when the provider is closed', async (bench) => {
  await bench.provider().lock(JOB);
  const ended = bench.connected.subscriber() as RedisSubscriber & { disconnect(): void };
  ended.disconnect();
  await bench.provider({ subscriber: ended }).released?.(JOB.name, never);
  const closing = bench.provider({ subscriber: bench.connected.subscriber() });
  const woken = closing.released?.(JOB.name, never);
  await listened(bench, 1);
  await closing.close();
  await woken;
  await listened(bench, 0);
});

testRedis('the provider closes its subscriber, and not the client', async (bench) => {
  const connected = await bench.connect('redis');
  const subscriber = connected.subscriber();
  const provider = bench.provider({ client: connected.client, subscriber });
  await provider.released?.(JOB.name, never);
  assert.ok('isOpen' in subscriber && subscriber.isOpen);
  await provider.close();
  assert.equal(subscriber.isOpen, false);
  assert.equal(await connected.send('PING'), 'PONG');
});

testRedis('a wait after the provider was closed ends, and opens no connection', async (bench) => {
  await bench.provider().lock(JOB);
  for (const name of REDIS_CLIENTS) {
    const connected = await bench.connect(name);
    const subscriber = connected.subscriber();
    const provider = bench.provider({ client: connected.client, subscriber });
    await provider.close();
    await provider.released?.(JOB.name, AbortSignal.timeout(2000));
    assert.ok('isOpen' in subscriber ? !subscriber.isOpen : subscriber.status === 'end', name);
  }
});

testRedis('a subscriber whose connection fails leads to one warning, without a password', async (bench) => {
  const warnings: string[] = [];
  const subscriber = bench.connected.subscriber();
  bench.provider({ subscriber, onWarning: (message) => void warnings.push(message) });
  const emitter = subscriber as unknown as NodeJS.EventEmitter;
  emitter.emit('error', new Error('connect ECONNREFUSED redis://:hush@db'));
  emitter.emit('error', new Error('connect ECONNREFUSED'));
  await bench.send('PING');
  assert.deepEqual(warnings, [
    'A connection of RedisLockProvider failed: connect ECONNREFUSED redis://***@db. Its client connects again.',
  ]);
});

testRedis('a wait that stops before it has subscribed leaves no subscription', async (bench) => {
  for (const name of REDIS_CLIENTS) {
    const connected = await bench.connect(name);
    const waiting = bench.provider({ client: connected.client, subscriber: connected.subscriber() });
    await bench.provider().lock(JOB);
    await waiting.released?.(JOB.name, AbortSignal.abort());
    const woken = waiting.released?.(JOB.name, never);
    await listened(bench, 1);
    const { lockedBy = '' } = (await waiting.inspect(JOB.name)) ?? {};
    await waiting.forceRelease(JOB.name, lockedBy);
    await woken;
    await listened(bench, 0);
  }
});
