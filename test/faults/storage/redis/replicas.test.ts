import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { RedisWaitOptions } from 'cronlatch/redis';
import { JOB, RedisBench } from '../../../support/benches/redis';
import { targetOf } from '../../../support/faults/tcp-proxy';
import { ownServer, type OwnServer } from '../../../support/servers/own';
import type { RedisClientName } from '../../../support/servers/redis-clients';
import { testOnOwn } from '../../../support/servers/test-on';

interface Pair {
  readonly bench: RedisBench;
  readonly replica: OwnServer;
  readonly wait: (name?: RedisClientName) => Promise<RedisWaitOptions>;
}

/** A primary and one replica, in sync. */
async function pair(t: TestContext): Promise<Pair> {
  const [primary, replica] = await Promise.all([ownServer('redis'), ownServer('redis')]);
  t.after(async () => void (await Promise.all([primary.stop(), replica.stop()])));
  const bench = await RedisBench.open(t, primary.url);
  const { host, port } = targetOf(primary.url);
  const follower = await bench.connect('ioredis', replica.url);
  await follower.send('REPLICAOF', host, String(port));
  await bench.send('SET', 'first', '1');
  for (let tries = 0; Number(await bench.send('WAIT', '1', '1000')) < 1; tries += 1) assert.ok(tries < 30);
  return {
    bench,
    replica,
    async wait(name = 'ioredis') {
      const { client } = await bench.connect(name);
      return { client, replicas: 1, timeout: '2s' };
    },
  };
}

for (const name of ['ioredis', 'redis'] as const)
  testOnOwn('redis', `through ${name}, a lock with wait is on the replica when it is granted`, async (t) => {
    const { bench, replica, wait } = await pair(t);
    const provider = bench.provider({ wait: await wait(name) });
    const follower = await bench.connect('ioredis', replica.url);
    const names = Array.from({ length: 20 }, (_, i) => `job-${i}`);
    const locks = await Promise.all(names.map((each) => provider.lock({ ...JOB, name: each })));
    for (const lock of locks) {
      assert.ok(lock);
      assert.equal(await follower.send('EXISTS', bench.keyPrefix + lock.name), 1);
      assert.equal(await lock.extend('1h'), true);
      assert.equal(await lock.unlock(), true);
    }
  });

testOnOwn(
  'redis',
  'a lock that too few replicas have is given back, and the error counts them',
  async (t) => {
    const { bench, replica, wait } = await pair(t);
    const provider = bench.provider({ wait: { ...(await wait()), timeout: '1s' } });
    const held = await provider.lock({ ...JOB, name: 'held', lockAtMostFor: '6s' });
    assert.ok(held);
    await replica.kill();
    await assert.rejects(provider.lock({ ...JOB, lockAtLeastFor: '5m' }), {
      outcome: 'nothing-ran',
      message: /Lock 'close-day' was given back: 0 of 1 replicas confirmed it within 1000 ms/,
    });
    assert.ok(await bench.provider().lock(JOB), 'the lock should be free again');
    await assert.rejects(held.extend('10m'), {
      outcome: 'unknown',
      message: /failover could lose.*0 of 1|did not answer/,
    });
  },
);

testOnOwn('redis', 'a connection that is replaced before WAIT confirms nothing', async (t) => {
  const { bench, wait } = await pair(t);
  const [rules, other] = [await wait(), await bench.connect()];
  const connections = ['17', '18'];
  const provider = bench.provider({
    wait: {
      ...rules,
      client: ([name = '', ...args]) =>
        name === 'CLIENT' ? Promise.resolve(connections.shift() ?? '19') : other.send(name, ...args),
    },
  });
  await assert.rejects(provider.lock(JOB), /given back: the connection of wait was lost/);
  assert.ok(await bench.provider().lock(JOB));
});

testOnOwn('redis', 'a lost answer of a grant is settled only if the replica has the lock', async (t) => {
  const { bench, wait } = await pair(t);
  const [rules, other] = [await wait(), await bench.connect()];
  let isLost = false;
  const waits: string[] = [];
  const provider = bench.provider({
    wait: {
      ...rules,
      async client([name = '', ...args]) {
        const answer = await other.send(name, ...args);
        if (name === 'WAIT') waits.push(String(answer));
        if (!isLost || name !== 'EVALSHA') return answer;
        isLost = false;
        throw new Error('Socket closed unexpectedly');
      },
    },
  });
  await (await provider.lock(JOB))?.unlock();
  isLost = true;
  waits.length = 0;
  const lock = await provider.lock(JOB);
  assert.ok(lock);
  assert.deepEqual(waits, ['1']);
  assert.equal(await lock.unlock(), true);
});

testOnOwn('redis', 'a lock that cannot be given back at once is released later', async (t) => {
  const { bench, replica, wait } = await pair(t);
  const rules = { ...(await wait()), timeout: '1s' };
  let isFull = false;
  const provider = bench.provider({
    statementTimeout: '2s',
    wait: rules,
    client(command) {
      return isFull ? Promise.reject(new Error('OOM command not allowed')) : bench.send(...command);
    },
  });
  await (await provider.lock(JOB))?.unlock();
  await replica.kill();
  isFull = true;
  await assert.rejects(provider.lock(JOB), { outcome: 'unknown', message: /failover could lose/ });
  assert.equal((await bench.provider().inspect(JOB.name))?.isHeld, true);
  isFull = false;
  await provider.close(); // Sends the pending release.
  assert.equal((await bench.provider().inspect(JOB.name))?.isHeld, false);
});

testOnOwn('redis', 'a replica is refused, and the error names the primary', async (t) => {
  const { bench, replica } = await pair(t);
  const { client } = await bench.connect('redis', replica.url);
  await assert.rejects(bench.provider({ client }).lock(JOB), {
    code: 'CRONLATCH_STORAGE',
    outcome: 'nothing-ran',
    driverCode: 'READONLY',
    message: /Connect to the primary/,
  });
});
